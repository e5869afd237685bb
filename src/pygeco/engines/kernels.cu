// Passes over observed cells, and the small systems of a half-sweep.
//
// The engine compiles this file for the GPU when it is first used. A short shim (tests/engines/) lets
// a C++ compiler make a CPU twin of it, in which a block's threads run as coroutines: the kernels'
// index arithmetic is tested without a GPU.
//
// Cells are grouped (by row, say). Groups are cut into pieces of consecutive cells: piece p has the
// cells starts[p] ... starts[p + 1] - 1, group i the pieces first[i] ... first[i + 1] - 1. A warp works
// on one piece and writes partial sums of its own, which are added in order: the same bits each time.

typedef long long i64;

#define WARP 32
#define LANE (threadIdx.x % WARP)
#define WARP_INDEX ((i64)blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP)

#ifndef CPU_TWIN
__device__ __forceinline__ double shuffle_xor(double x, int mask) { return __shfl_xor_sync(~0u, x, mask); }
__device__ __forceinline__ double shuffle(double x, int lane) { return __shfl_sync(~0u, x, lane); }
__device__ __forceinline__ int shuffle(int x, int lane) { return __shfl_sync(~0u, x, lane); }
__device__ __forceinline__ void warp_barrier() { __syncwarp(); }
template <typename T> __device__ __forceinline__ T load_once(const T* p) { return __ldcs(p); }
__device__ __forceinline__ float inverse_root(float x) { return rsqrtf(x); }
__device__ __forceinline__ double inverse_root(double x) { return rsqrt(x); }

// c += a b for a (16, 4), b (4, 8), c (16, 8). With g = lane / 4 and t = lane % 4 a lane holds
// a0 = a[g][t], a1 = a[g + 8][t], b = b[t][g], c = c[g][2t], c[g][2t + 1], c[g + 8][2t], c[g + 8][2t + 1].
__device__ __forceinline__ void multiply(double* c, double a0, double a1, double b) {
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3]) : "d"(a0), "d"(a1), "d"(b));
#else
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
        : "+d"(c[0]), "+d"(c[1]) : "d"(a0), "d"(b));
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
        : "+d"(c[2]), "+d"(c[3]) : "d"(a1), "d"(b));
#endif
}
#endif

__device__ __forceinline__ double warp_sum(double x) {
    for (int mask = WARP / 2; mask; mask /= 2) x += shuffle_xor(x, mask);
    return x;
}

// Four numbers that are read at once.
template <typename T> struct __align__(4 * sizeof(T)) Four { T at[4]; };

// out[p] = scale * sum of data[e] x[indices[e]] over the cells starts[p] ... stops[p] - 1; without x, of
// data[e].
template <typename D>
__global__ void matvec(i64 pieces, const i64* starts, const i64* stops, const int* indices, const D* data,
                       double scale, const double* x, double* out) {
    const i64 p = WARP_INDEX;
    if (p >= pieces) return;
    const i64 stop = stops[p];
    double total = 0;
    for (i64 e = starts[p] + LANE; e - LANE < stop; e += 4 * WARP) {  // four loads hide their latency
        double part[4];
#pragma unroll
        for (int t = 0; t < 4; ++t) {
            const bool inside = e + t * WARP < stop;
            const double d = inside ? (double)load_once(data + e + t * WARP) : 0.0;
            part[t] = x && inside ? d * x[load_once(indices + e + t * WARP)] : d;
        }
        total += (part[0] + part[1]) + (part[2] + part[3]);
    }
    total = warp_sum(total);
    if (LANE == 0) out[p] = scale * total;
}

// out[p, c] = sum of a X[j, c] over piece p, j the other side of the cell and a = data[e] x[j]; without
// data or x they count as 1. A warp takes 32 columns, those of blockIdx.y.
template <typename D, typename T>
__global__ void matmat(i64 pieces, const i64* starts, const int* indices, const D* data, const T* x,
                       int columns, const T* X, T* out) {
    const i64 p = WARP_INDEX;
    if (p >= pieces) return;
    const int c = blockIdx.y * WARP + LANE;
    const i64 stop = starts[p + 1];
    T total = 0;
    for (i64 e = starts[p]; e < stop; e += WARP) {
        const bool inside = e + LANE < stop;
        const int own = inside ? indices[e + LANE] : 0;
        const double a = inside ? (data ? (double)data[e + LANE] : 1.0) * (x ? (double)x[own] : 1.0) : 0.0;
        const int count = stop - e < WARP ? (int)(stop - e) : WARP;
        for (int t = 0; t < count; ++t) {
            const i64 j = shuffle(own, t);
            const T factor = (T)shuffle(a, t);
            if (c < columns) total += factor * X[j * columns + c];
        }
    }
    if (c < columns) out[p * columns + c] = total;
}

// out[i, c] = scale * sum of partial[p, c] over the pieces of group i, in order.
template <typename T>
__global__ void add_pieces(i64 groups, const i64* first, int columns, double scale, const T* partial, T* out) {
    const i64 at = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= groups * columns) return;
    const i64 i = at / columns, c = at % columns;
    double total = 0;
    for (i64 p = first[i]; p < first[i + 1]; ++p) total += partial[p * columns + c];
    out[at] = (T)(scale * total);
}

// z = <P_i, Q_j> for the cells of pieces begin ... begin + pieces - 1; groups[p] is the group of a piece.
// Without values out[e - base] = z. Else out = w (z - y), and sums[p] gets the sums of w (z - y)^2 and of
// w (z - y) z. Eight lanes share eight cells; at the end each has the sum for its own.
template <typename T, typename F>
__global__ void predictions(i64 begin, i64 pieces, const i64* starts, const int* groups, const int* indices,
                            const T* values, const T* weights, int s, const F* __restrict__ P,
                            const F* __restrict__ Q, i64 base, T* out, double* sums) {
    const i64 p = begin + WARP_INDEX;
    if (p >= begin + pieces) return;
    const int part = LANE % 8;
    const F* own = P + (i64)groups[p] * s;
    const i64 stop = starts[p + 1];
    double squares = 0, inner = 0;
    for (i64 e = starts[p] + LANE; e - LANE < stop; e += WARP) {
        const bool inside = e < stop;
        const int mine = inside ? indices[e] : 0;
        const F* other[8];
        F z[8] = {};
#pragma unroll
        for (int t = 0; t < 8; ++t) other[t] = Q + (i64)shuffle(mine, LANE - part + t) * s;
        for (int k = part; k < s; k += 8) {
            const F u = own[k];
#pragma unroll
            for (int t = 0; t < 8; ++t) z[t] += u * other[t][k];
        }
#pragma unroll
        for (int half = 4; half; half /= 2) {
            const bool up = part & half;
#pragma unroll
            for (int t = 0; t < half; ++t) {
                const F give = up ? z[t] : z[t + half];
                z[t] = (up ? z[t + half] : z[t]) + (F)shuffle_xor((double)give, half);
            }
        }
        if (!inside) continue;
        const double whole = z[0];
        if (!values) {
            out[e - base] = (T)whole;
            continue;
        }
        const double r = whole - values[e];
        const double wr = weights ? r * weights[e] : r;
        out[e - base] = (T)wr;
        squares += wr * r;
        inner += wr * whole;
    }
    if (!values) return;
    squares = warp_sum(squares);
    inner = warp_sum(inner);
    if (LANE == 0) {
        sums[2 * p] = squares;
        sums[2 * p + 1] = inner;
    }
}

// Where a tile of a lower triangle of 8 x 8 tiles is kept: row by row.
__device__ __forceinline__ i64 tile_at(int r, int c) { return (i64)r * (r + 1) / 2 + c; }

// What a piece leaves for its group's system, one number after the other: the lower triangle of the
// Gram in 8 x 8 tiles, then sides, sums and spread (8 blocks numbers each), then four totals.
__device__ __forceinline__ i64 piece_size(int blocks) { return 64 * tile_at(blocks, 0) + 24 * blocks + 4; }

// The entries of one cell's q that a lane holds, for the rows and the columns of its part of the Gram.
template <typename F, int ROWS, int COLS, bool TRIANGLE> struct Gathered {
    F a[ROWS], b[TRIANGLE ? 1 : COLS];
    __device__ __forceinline__ void load(const F* q, int row0, int col0, int blocks) {
#pragma unroll
        for (int k = 0; k < ROWS; ++k)
            a[k] = (TRIANGLE ? k < COLS : row0 + k < blocks) ? q[8 * (row0 + k)] : (F)0;
        if (TRIANGLE) return;
#pragma unroll
        for (int k = 0; k < COLS; ++k) b[TRIANGLE ? 0 : k] = col0 + k < blocks ? q[8 * (col0 + k)] : (F)0;
    }
    __device__ __forceinline__ F right(int c) const { return TRIANGLE ? a[c] : b[TRIANGLE ? 0 : c]; }
};

// Partial systems of pieces begin ... begin + pieces - 1. q_j is row j of Q (n + 1, 8 blocks), whose last
// row is zero, w = h[e], or 1 unless HEAVY, r = y[e] - bias[j], g = w r; where `plain`, g = y[e].
// Gram = sum w q q', sides = sum g q, totals[0] = sum w r^2. With OFFSET also sums = sum w q,
// spread = sum w W_j, and totals[1 ... 3] = sum g, sum w, sum w bias_variance[j]; else they are zero.
//
// The Gram is made by matrix instructions in double precision. Four cells go into one: a lane loads the
// entries (8 b + lane / 4) of cell (lane % 4), which serve as left and as right operand alike. A warp
// makes the tiles of ROWS x COLS blocks from (8 row0, 8 col0) on: all of the triangle where TRIANGLE, else
// the square number blockIdx.y of the triangle of squares.
template <typename D, typename F, typename R, int ROWS, int COLS, bool TRIANGLE, bool HEAVY, bool OFFSET>
__global__ void grams(i64 begin, i64 pieces, const i64* __restrict__ starts, const int* __restrict__ indices,
                      const D* __restrict__ h, const D* __restrict__ y, const F* __restrict__ bias,
                      const F* __restrict__ bias_variance, bool plain, int blocks, int zero,
                      const F* __restrict__ Q, const F* __restrict__ W, R* __restrict__ out) {
    const i64 piece = WARP_INDEX;
    if (piece >= pieces) return;
    int row0 = 0, col0 = 0;
    if (!TRIANGLE) {
        int square = blockIdx.y, line = 0;
        while (square > line) square -= ++line;
        row0 = line * ROWS;
        col0 = square * COLS;
    }
    const int g = LANE / 4, t = LANE % 4;
    const i64 width = 8 * (i64)blocks, start = starts[begin + piece], stop = starts[begin + piece + 1];
    const bool first = col0 == 0;
    double acc[ROWS / 2][COLS][4] = {};
    R sides[ROWS] = {}, sums[OFFSET ? ROWS : 1] = {}, spread[OFFSET ? ROWS : 1] = {};
    double totals[4] = {};
    i64 e = start + t;
    // Two cells are on their way while one is multiplied: a gather takes longer than that.
    int j = e < stop ? indices[e] : zero, soon = e + 4 < stop ? indices[e + 4] : zero;
    int later = e + 8 < stop ? indices[e + 8] : zero;
    Gathered<F, ROWS, COLS, TRIANGLE> now, next, after;
    now.load(Q + j * width + g, row0, col0, blocks);
    next.load(Q + soon * width + g, row0, col0, blocks);
    D target = start < stop ? y[e < stop ? e : stop - 1] : (D)0;
#pragma unroll 3
    for (i64 from = start; from < stop; from += 4, e += 4) {
        after.load(Q + later * width + g, row0, col0, blocks);
        const D next_target = y[e + 4 < stop ? e + 4 : stop - 1];
        const double w = HEAVY ? (double)h[e < stop ? e : stop - 1] : 1.0;
        if (first) {
            const double r = target - (bias ? (double)bias[j] : 0.0);
            const double side = plain || !HEAVY ? r : w * r;
            if (e < stop) totals[0] += w * r * r;
#pragma unroll
            for (int k = 0; k < ROWS; ++k) sides[k] += (R)side * (R)now.a[k];
            if (OFFSET) {
                if (e < stop) {
                    totals[1] += side;
                    totals[2] += w;
                    if (bias_variance) totals[3] += w * bias_variance[j];
                }
#pragma unroll
                for (int k = 0; k < ROWS; ++k) sums[OFFSET ? k : 0] += (R)w * (R)now.a[k];
                const F* v = W + j * width + g;
#pragma unroll
                for (int k = 0; k < ROWS; ++k)
                    if (W && row0 + k < blocks) spread[OFFSET ? k : 0] += (R)w * (R)v[8 * (row0 + k)];
            }
        }
        j = soon;
        soon = later;
        later = e + 12 < stop ? indices[e + 12] : zero;
        target = next_target;
#pragma unroll
        for (int c = 0; c < COLS; ++c) {
            const double right = HEAVY ? w * now.right(c) : (double)now.right(c);
#pragma unroll
            for (int k = 0; k < ROWS / 2; ++k)
                if (!TRIANGLE || c <= 2 * k + 1) multiply(acc[k][c], now.a[2 * k], now.a[2 * k + 1], right);
        }
        now = next;
        next = after;
    }
    R* place = out + piece * piece_size(blocks);
#pragma unroll
    for (int k = 0; k < ROWS; ++k)
#pragma unroll
        for (int c = 0; c < COLS; ++c) {
            const int r = row0 + k, l = col0 + c;
            if ((TRIANGLE && c > k) || l > r || r >= blocks) continue;
            R* tile = place + 64 * tile_at(r, l) + 8 * g + 2 * t;
            tile[0] = (R)acc[k / 2][c][2 * (k % 2)];
            tile[1] = (R)acc[k / 2][c][2 * (k % 2) + 1];
        }
    if (!first) return;
    place += 64 * tile_at(blocks, 0);
#pragma unroll
    for (int k = 0; k < ROWS; ++k) {
        double three[3] = {(double)sides[k], 0, 0};
        if (OFFSET) three[1] = sums[OFFSET ? k : 0], three[2] = spread[OFFSET ? k : 0];
#pragma unroll
        for (int n = 0; n < 3; ++n) {
            for (int mask = 2; mask; mask /= 2) three[n] += shuffle_xor(three[n], mask);
            if (t == 0 && row0 + k < blocks) place[n * width + 8 * (row0 + k) + g] = (R)three[n];
        }
    }
#pragma unroll
    for (int n = 0; n < 4; ++n) {
        for (int mask = 2; mask; mask /= 2) totals[n] += shuffle_xor(totals[n], mask);
        if (LANE == 0 && row0 == 0) place[3 * width + n] = (R)totals[n];
    }
}

// The sum of one number over the pieces of a group, in order.
template <typename R>
__device__ __forceinline__ double gathered(const R* parts, i64 count, i64 size, i64 at) {
    double total = 0;
#pragma unroll 4
    for (i64 p = 0; p < count; ++p) total += parts[p * size + at];
    return total;
}

// Grams (groups, s, s), sides (groups, s) and plain sums of groups begin ... in full, from their pieces.
template <typename R>
__global__ void unpack(i64 begin, i64 groups, const i64* first, int s, int blocks, const R* parts, R* grams,
                       R* sides) {
    const i64 at = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    const i64 own = (i64)s * (s + 1);
    if (at >= groups * own) return;
    const i64 i = at / own;
    const int k = (int)(at % own) / (s + 1), q = (int)(at % own) % (s + 1);
    const i64 from = first[begin + i] - first[begin], count = first[begin + i + 1] - first[begin + i];
    const i64 size = piece_size(blocks);
    const R* mine = parts + from * size;
    if (q == s) {
        sides[i * s + k] = (R)gathered(mine, count, size, 64 * tile_at(blocks, 0) + k);
    } else {
        const int r = k > q ? k : q, c = k > q ? q : k;
        const i64 place = 64 * tile_at(r / 8, c / 8) + 8 * (r % 8) + c % 8;
        grams[(i * s + k) * s + q] = (R)gathered(mine, count, size, place);
    }
}

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
// `out` (groups in all, d) holds the start on entry and the solution then, errors[i] the sum of
// w E[(y - yhat)^2]. prior (d, d) is symmetric. A warp has `room` numbers of shared memory, or, where that
// is too small, of `memory`.
template <typename T, bool SHARED>
__global__ void solve(i64 begin, i64 groups, const i64* first, int s, int blocks, int offset, T* parts,
                      const T* __restrict__ ridge, const T* __restrict__ prior, const T* __restrict__ shift,
                      double tau, double jitter, const T* __restrict__ noise, i64 room, T* memory, T* out,
                      T* mean, T* variance, double* errors) {
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
            const T own = k < s ? mine[64 * tile_at(k / 8, k / 8) + 9 * (k % 8)] : totals[2];
            diagonal[k] = k < s ? own + spread[k] : own;
            kept[k] = k < s ? sides[k] : totals[1];
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
            M[k * ld + k] = (T)tau * diagonal[k] + weight * prior[k * d + k] + pull;
            if (offset && k < s) M[k * ld + s] = (T)tau * sums[k] + weight * prior[s * d + k];
            M[k * ld + d] = (T)tau * kept[k] + weight * shift[k] + pull * out[i * d + k];
        }
        warp_barrier();
        factorise(M, ld, d, inverse);
        for (int k = LANE; k < d; k += WARP) y[k] = M[k * ld + d];
        warp_barrier();
        if (noise) {
            back_substitute(M, ld, d, inverse, y);
            for (int k = LANE; k < d; k += WARP) {
                mean[i * d + k] = y[k];
                y[k] = M[k * ld + d] + noise[i * d + k];
            }
            warp_barrier();
        }
        // x' Lambda x = |L' x|^2, and L' x stands in y now: no second use of the Gram is needed.
        double total = 0;
        for (int k = LANE; k < d; k += WARP) total += (double)y[k] * y[k] / tau;
        warp_barrier();
        back_substitute(M, ld, d, inverse, y);
        for (int k = LANE; k < d; k += WARP) {
            out[i * d + k] = y[k];
            T own = (T)0.5 * prior[k * d + k] * y[k];
#pragma unroll 4
            for (int q = 0; q < k; ++q) own += prior[q * d + k] * y[q];
            total -= 2 * (double)y[k] * (kept[k] + weight * (double)own / tau);
        }
        if (variance) total += variances(M, ld, d, inverse, diagonal, variance + i * d);
        total = warp_sum(total);
        if (LANE == 0) {
            errors[i] = total + totals[0] + totals[3];
        }
        warp_barrier();
    }
}

// z := scale clip(z - y, +-delta), value := scale loss, stiffness := slope / residual, for a tile of
// `rows` x `cols` cells of which y, of any type, has rows of `stride`; NaN in y is a missing cell.
template <typename T, typename Y>
__global__ void huber(i64 rows, i64 cols, i64 stride, T delta, T scale, const Y* y, T* z, T* value,
                      T* stiffness) {
    for (i64 at = (i64)blockIdx.x * blockDim.x + threadIdx.x; at < rows * cols;
         at += (i64)gridDim.x * blockDim.x) {
        const T r = z[at] - (T)y[at / cols * stride + at % cols];
        const T size = r < 0 ? -r : r;
        const T near = size < delta ? size : delta;
        const bool seen = r == r;
        z[at] = seen ? scale * (r > 0 ? near : -near) : (T)0;
        value[at] = seen ? scale * near * (size - near / 2) : (T)0;
        stiffness[at] = seen ? scale * (size > delta ? near / size : (T)1) : (T)0;
    }
}

// Numbers in their order as unsigned integers.
template <typename T> struct Key;
template <> struct Key<float> { typedef unsigned int type; };
template <> struct Key<double> { typedef unsigned long long type; };

template <typename T>
__device__ __forceinline__ typename Key<T>::type key_of(T x) {
    typename Key<T>::type bits;
    memcpy(&bits, &x, sizeof(bits));
    const typename Key<T>::type sign = (typename Key<T>::type)1 << (8 * sizeof(T) - 1);
    return bits & sign ? ~bits : bits | sign;
}

// The median of the observed cells of each column of y (rows, cols), zero where there is none; NaN and
// weight zero are missing cells. A thread finds its column's two middle keys bit by bit.
template <typename T, typename Y>
__global__ void medians(i64 rows, i64 cols, const Y* y, const T* weights, double* out) {
    const i64 j = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= cols) return;
    i64 seen = 0;
    for (i64 i = 0; i < rows; ++i) {
        const T x = (T)y[i * cols + j];
        seen += x == x && (!weights || weights[i * cols + j] > 0);
    }
    double total = 0;
    for (int half = 0; half < 2; ++half) {
        const i64 rank = half ? seen / 2 : (seen > 0 ? seen - 1 : 0) / 2;
        typename Key<T>::type found = 0;
        for (int bit = 8 * sizeof(T) - 1; bit >= 0; --bit) {
            const typename Key<T>::type next = found | (typename Key<T>::type)1 << bit;
            i64 below = 0;
            for (i64 i = 0; i < rows; ++i) {
                const T x = (T)y[i * cols + j];
                below += x == x && (!weights || weights[i * cols + j] > 0) && key_of(x) < next;
            }
            if (below <= rank) found = next;
        }
        const typename Key<T>::type sign = (typename Key<T>::type)1 << (8 * sizeof(T) - 1);
        const typename Key<T>::type bits = found & sign ? found ^ sign : ~found;
        T x;
        memcpy(&x, &bits, sizeof(x));
        total += x;
    }
    out[j] = seen ? total / 2 : 0.0;
}
