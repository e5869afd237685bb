// The small systems of a half-sweep, one a warp.

// The four numbers M[at] ... M[at + 3], at a multiple of four.
template <typename T>
__device__ __forceinline__ Four<T> four(const T* M, int at) { return *(const Four<T>*)(M + at); }

// y := L^-T y for the factor L in M, four unknowns at a time; y has room for `tall` numbers.
template <typename T>
__device__ __forceinline__ void back_substitute(const T* M, int ld, int d, const T* inverse, T* y) {
    for (int k0 = (d - 1) / 4 * 4; k0 >= 0; k0 -= 4) {
        T x[4];
#pragma unroll
        for (int n = 3; n >= 0; --n) {
            x[n] = k0 + n < d ? y[k0 + n] : (T)0;
#pragma unroll
            for (int o = 3; o > n; --o)
                if (k0 + o < d) x[n] -= M[(k0 + n) * ld + k0 + o] * x[o];
            if (k0 + n < d) x[n] *= inverse[k0 + n];
        }
        warp_barrier();
        for (int q = LANE; q < k0 + 4; q += WARP) {
            if (q >= k0) {
                y[q] = q == k0 ? x[0] : q == k0 + 1 ? x[1] : q == k0 + 2 ? x[2] : x[3];
                continue;
            }
            const Four<T> row = four(M, q * ld + k0);
            T sum = 0;
#pragma unroll
            for (int n = 0; n < 4; ++n)
                if (k0 + n < d) sum += row.at[n] * x[n];
            y[q] -= sum;
        }
        warp_barrier();
    }
}

// Columns k0 ... k0 + 3 of the factor, from their Schur complement in place: the small triangle by every
// lane for itself, then each row by one lane.
template <typename T>
__device__ __forceinline__ void factorise_panel(T* M, int ld, int d, int k0, T* inverse) {
    T L[4][4], root[4];
#pragma unroll
    for (int n = 0; n < 4; ++n) {
#pragma unroll
        for (int o = 0; o <= n; ++o) L[n][o] = M[(k0 + o) * ld + k0 + n];
#pragma unroll
        for (int o = 0; o <= n; ++o) {
            T sum = L[n][o];
#pragma unroll
            for (int p = 0; p < o; ++p) sum -= L[n][p] * L[o][p];
            if (o < n) L[n][o] = sum * root[o];
            else root[n] = inverse_root(sum > (T)1e-30 ? sum : (T)1e-30);
        }
    }
    warp_barrier();
    for (int i = k0 + LANE; i <= d; i += WARP) {
        T row[4];
#pragma unroll
        for (int n = 0; n < 4; ++n) {
            if (k0 + n >= d) break;
            row[n] = M[(k0 + n) * ld + i];
#pragma unroll
            for (int o = 0; o < n; ++o) row[n] -= row[o] * L[n][o];
            row[n] *= root[n];
            if (i >= k0 + n) M[(k0 + n) * ld + i] = row[n];
        }
    }
#pragma unroll
    for (int n = 0; n < 4; ++n)
        if (LANE == n && k0 + n < d) inverse[k0 + n] = root[n];
    warp_barrier();
}

// Cholesky of M (d, d), L[k][q] at M[q ld + k], four columns at a time; row d, the right side, becomes
// L^-1 b on the way. inverse[k] = 1 / L[k][k]. A lane takes two rows at once.
template <typename T>
__device__ __forceinline__ void factorise(T* M, int ld, int d, T* inverse) {
    for (int k0 = 0; k0 < d; k0 += 4) {
        for (int i = k0 + LANE; i <= d; i += 2 * WARP) {
            const int other = i + WARP <= d ? i + WARP : i;
            T sum[4] = {}, more[4] = {};
#pragma unroll 8
            for (int q = 0; q < k0; ++q) {
                const Four<T> top = four(M, q * ld + k0);
                const T mine = M[q * ld + i], second = M[q * ld + other];
#pragma unroll
                for (int n = 0; n < 4; ++n) {
                    sum[n] += mine * top.at[n];
                    more[n] += second * top.at[n];
                }
            }
#pragma unroll
            for (int n = 0; n < 4; ++n) {
                if (k0 + n >= d) break;
                if (i >= k0 + n) M[(k0 + n) * ld + i] -= sum[n];
                if (other != i) M[(k0 + n) * ld + other] -= more[n];
            }
        }
        warp_barrier();
        factorise_panel(M, ld, d, k0, inverse);
    }
}

// The diagonal of (L L')^-1 to variance, and its product with `diagonal`. Column q of L^-1 is made by
// one lane; L^-1[k][q] is kept at M[k ld + q], in the half that L leaves free.
template <typename T>
__device__ __forceinline__ double variances(T* M, int ld, int d, const T* inverse, const T* diagonal,
                                            T* variance) {
    double spread = 0;
    for (int q = LANE; q < d; q += WARP) {
        const int q0 = q - LANE;
        T v = inverse[q] * inverse[q];
        for (int k0 = q0; k0 < d; k0 += 4) {
            T sum[4] = {}, z[4];
#pragma unroll 4
            for (int p = q0; p < k0; ++p) {
                const Four<T> row = four(M, p * ld + k0);
                const T known = p > q ? M[p * ld + q] : p == q ? inverse[q] : (T)0;
#pragma unroll
                for (int n = 0; n < 4; ++n) sum[n] += row.at[n] * known;
            }
#pragma unroll
            for (int n = 0; n < 4; ++n) {
                const int k = k0 + n;
                z[n] = k == q ? inverse[q] : (T)0;
                if (k <= q || k >= d) continue;
#pragma unroll
                for (int o = 0; o < 4; ++o)
                    if (o < n) sum[n] += M[(k0 + o) * ld + k] * z[o];
                z[n] = -inverse[k] * sum[n];
                M[k * ld + q] = z[n];
                v += z[n] * z[n];
            }
        }
        variance[q] = v;
        spread += (double)v * diagonal[q];
    }
    return spread;
}

// The numbers of all pieces of a group added to those of its first, in order.
template <typename T>
__device__ __forceinline__ void add_to_first(T* parts, i64 count, i64 size) {
    if (count == 1) return;
    for (i64 at = LANE; at < size; at += WARP) parts[at] = (T)gathered(parts, count, size, at);
    warp_barrier();
}

// The ridge systems of groups begin ... begin + groups - 1, each solved by one warp; see `Ridges`.
//
// `out` (groups in all, d) holds the start on entry and the solution then, uncertainty[i] the sum of
// w Var(yhat). prior (d, d) is symmetric. A warp has `room` numbers of shared memory, or, where that
// is too small, of `memory`. Where there is a `background`, background[i] spectrum[k] is added to the
// diagonal, and explained[i] is b' x.
template <typename T, bool SHARED>
__global__ void solve(i64 begin, i64 groups, const i64* first, int s, int blocks, int offset, T* parts,
                      const T* __restrict__ ridge, const T* __restrict__ prior, const T* __restrict__ shift, i64 stride,
                      double tau, double jitter, const T* __restrict__ noise, const T* __restrict__ background,
                      const T* __restrict__ spectrum, i64 room, T* memory, T* out,
                      T* mean, T* variance, double* uncertainty, double* explained) {
    extern __shared__ double shared[];
    const i64 warps = (i64)gridDim.x * (blockDim.x / WARP);
    T* M = SHARED ? (T*)shared + (threadIdx.x / WARP) * room : memory + WARP_INDEX * room;
    const int d = s + offset, ld = (d + 4) / 4 * 4, tall = (d + 3) / 4 * 4;
    T *inverse = M + tall * ld, *y = inverse + tall, *diagonal = y + tall, *kept = diagonal + tall;
    const i64 size = piece_size(blocks), width = 8 * blocks;
    for (i64 at = WARP_INDEX; at < groups; at += warps) {
        const i64 i = begin + at;
        T* mine = parts + (first[i] - first[begin]) * size;
        add_to_first(mine, first[i + 1] - first[i], size);
        const T weight = ridge ? ridge[i] : (T)1;
        const T *sides = mine + 64 * tile_at(blocks, 0), *sums = sides + width, *spread = sums + width;
        const T* totals = spread + width;
        double trace = 0;
        for (int k = LANE; k < d; k += WARP) {
            const T own = k < s ? mine[64 * tile_at(k / 8, k / 8) + 9 * (k % 8)] : totals[1];
            diagonal[k] = k < s ? own + spread[k] : own;
            kept[k] = k < s ? sides[k] : totals[0];
            if (k < s) trace += own;
        }
        const T pull = s ? (T)(jitter * tau * warp_sum(trace) / s) : (T)0;
        int row = 0, col = 0;
#pragma unroll 4
        for (i64 tile = 0; tile < tile_at(blocks, 0); ++tile) {
#pragma unroll
            for (int n = LANE; n < 64; n += WARP) {
                const int k = 8 * row + n / 8, q = 8 * col + n % 8;
                const T own = mine[64 * tile + n];
                if (q < k && k < s) M[q * ld + k] = (T)tau * own + weight * prior[k * d + q];
            }
            if (++col > row) ++row, col = 0;
        }
        for (int k = LANE; k < d; k += WARP) {
            const T behind = background && k < s ? background[i] * spectrum[k] : (T)0;
            M[k * ld + k] = (T)tau * diagonal[k] + weight * prior[k * d + k] + behind + pull;
            if (offset && k < s) M[k * ld + s] = (T)tau * sums[k] + weight * prior[s * d + k];
            M[k * ld + d] = (T)tau * kept[k] + weight * shift[i * stride + k] + pull * out[i * d + k];
        }
        warp_barrier();
        factorise(M, ld, d, inverse);
        for (int k = LANE; k < d; k += WARP) y[k] = M[k * ld + d];
        warp_barrier();
        if (explained) {
            double known = 0;
            for (int k = LANE; k < d; k += WARP) known += (double)y[k] * y[k];
            known = warp_sum(known);
            if (LANE == 0) explained[i] = known;
        }
        if (noise) {
            back_substitute(M, ld, d, inverse, y);
            for (int k = LANE; k < d; k += WARP) {
                mean[i * d + k] = y[k];
                y[k] = M[k * ld + d] + noise[i * d + k];
            }
            warp_barrier();
        }
        back_substitute(M, ld, d, inverse, y);
        double reach = 0;
        for (int k = LANE; k < d; k += WARP) reach += fabs((double)y[k]);
        // Cells whose partners all but vanish ask for numbers beyond the precision: as at the start.
        double total = 0;
        const bool sound = warp_sum(reach) <= 1.7976931348623157e308;
        for (int k = LANE; k < d; k += WARP) {
            if (sound) out[i * d + k] = y[k];
            const double x = out[i * d + k];
            if (k < s) total += x * x * spread[k];
        }
        if (variance) total += variances(M, ld, d, inverse, diagonal, variance + i * d);
        total = warp_sum(total);
        if (LANE == 0) uncertainty[i] = total + totals[2];
        warp_barrier();
    }
}
