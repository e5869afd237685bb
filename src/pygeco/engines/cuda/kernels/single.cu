// Half-sweeps in single precision: Grams and systems of up to 64 unknowns, in a warp's registers.

// Warps of a processor at once: with ten of them 56 unknowns would not fit into the registers.
#define WARPS_ASKED(N) ((N) == 7 ? 8 : 10)

// What a lane sums up over its cells beside the Gram: see `grams`.
template <int N, bool OFFSET> struct Sums {
    float sides[N], sums[OFFSET ? N : 1], spread[OFFSET ? N : 1];
    double totals[3];
};

// The systems of one ridge problem a group; see `Ridges`. prior has 8 lines numbers a row.
struct Ridge {
    const float *weight, *prior, *shift;
    i64 stride;
    double tau, jitter;
    int s;
};
#define RIDGE                                                                                          \
    const float *__restrict__ weight, const float *__restrict__ prior, const float *__restrict__ shift, \
        i64 stride, double tau, double jitter, int s

// out[i], the start on entry, becomes the solution of the system of group i, whose Gram is in M; b has the
// right side's cells in parts.
template <int N>
__device__ __forceinline__ void finish_system(const Ridge& ridge, i64 i, Tiles<N>& M, float* b, float* out) {
    const int g = LANE / 4, t = LANE % 4, s = ridge.s;
    const float tau = (float)ridge.tau, weight = ridge.weight ? ridge.weight[i] : 1.0f;
    double trace = 0;
    if (t == g / 2)
#pragma unroll
        for (int line = 0; line < N; ++line) {
            const float* own = M.at[line / 2][line] + 2 * (line % 2);
            trace += g % 2 ? own[1] : own[0];
        }
    const float pull = (float)(ridge.jitter * ridge.tau * warp_sum(trace) / s);
#pragma unroll
    for (int line = 0; line < N; ++line) {
        const int row = 8 * line + g;
#pragma unroll
        for (int c = 0; c <= line; ++c) {
            float* own = M.at[line / 2][c] + 2 * (line % 2);
            const Two<float> more = *(const Two<float>*)(ridge.prior + 8 * N * row + 8 * c + 2 * t);
#pragma unroll
            for (int n = 0; n < 2; ++n) {
                own[n] = tau * own[n] + weight * more.at[n];
                if (c == line && 2 * t + n == g) own[n] += pull;
            }
        }
        b[line] *= tau;
        if (t == 0 && row < s) b[line] += weight * ridge.shift[i * ridge.stride + row] + pull * out[i * s + row];
    }
    factorise_tiles(M, b);
    back_substitute_tiles(M, b);
    double reach = 0;
#pragma unroll
    for (int line = 0; line < N; ++line) reach += fabs((double)b[line]);
    // Cells whose partners all but vanish ask for numbers beyond the precision: as at the start.
    if (!(warp_sum(reach) <= 1.7976931348623157e308)) return;
#pragma unroll
    for (int line = 0; line < N; ++line)
        if (t == line % 4 && 8 * line + g < s) out[i * s + 8 * line + g] = b[line];
}

// A power of two by which numbers of these bits come near to 2^15, and the inverse of its square.
__device__ __forceinline__ void choose_scale(unsigned bits, float& scale, float& back) {
    unsigned exponent = bits >> 23;
    exponent = exponent < 78 ? 78 : exponent > 204 ? 204 : exponent;
    scale = number_of((268 - exponent) << 23);
    back = number_of((2 * exponent - 155) << 23);
}

// Adds the Gram of sixteen cells, of which a lane has rows[0 ... 3]: each step has a scale of its own.
template <int N> __device__ __forceinline__ void add_gram(Tiles<N>& M, const Row<N>* rows) {
    float top = 0, scale, back;
#pragma unroll
    for (int n = 0; n < 4; ++n)
#pragma unroll
        for (int line = 0; line < N; ++line) top = fmaxf(top, fabsf(rows[n].at[line]));
    choose_scale(warp_max(bits_of(top)), scale, back);
    HalfOperand<N> q;
#pragma unroll
    for (int line = 0; line < LINES(N); ++line)
#pragma unroll
        for (int n = 0; n < 2; ++n)
            q.set(line, n, scale * rows[2 * n].at[line], scale * rows[2 * n + 1].at[line]);
#pragma unroll
    for (int c = 0; c < N; ++c)
#pragma unroll
        for (int k = c / 2; k < LINES(N) / 2; ++k) {
            float product[4];
            multiply_lines(product, q, k, c);
#pragma unroll
            for (int n = 0; n < 4; ++n) M.at[k][c][n] += back * product[n];
        }
}

// The Gram and the sums of cells start ... stop - 1; see `grams`. Sixteen cells are one step: the lanes of
// one t take the numbers t, t + 4, t + 8, t + 12. Rows of Q are on their way to shared memory for
// STEPS_AHEAD steps.
const int STEPS_AHEAD = 2, STEPS_KEPT = STEPS_AHEAD + 1, STEP = 16;
template <typename D, int N, bool HEAVY, bool OFFSET>
__device__ __forceinline__ void sum_cells(i64 start, i64 stop, const int* __restrict__ indices,
                                          const D* __restrict__ h, const D* __restrict__ y,
                                          const float* __restrict__ bias, const float* __restrict__ bias_variance,
                                          int zero, const float* __restrict__ Q, const float* __restrict__ W,
                                          Tiles<N>& M, Sums<N, OFFSET>& sums) {
    extern __shared__ double shared[];
    const int g = LANE / 4, t = LANE % 4, part = N * WARP, count = (int)(stop - start);
    float* ring = (float*)shared + threadIdx.x / WARP * (4 * STEPS_KEPT * part);
    if (!count) return;
    indices += start, y += start, h += HEAVY ? start : 0;
    D target[4], weight[4];
    int own[STEPS_KEPT][4];  // the other side of this step's cells, and of those that come
    float shift[4] = {};
#pragma unroll
    for (int k = 0; k < STEPS_KEPT; ++k) {
#pragma unroll
        for (int n = 0; n < 4; ++n) {
            const int e = t + 4 * n + STEP * k;
            own[k][n] = e < count ? indices[e] : zero;
            if (k < STEPS_AHEAD) Row<N>::fetch(ring + (4 * k + n) * part, Q, own[k][n], g);
        }
        if (k < STEPS_AHEAD) end_copies();
    }
#pragma unroll
    for (int n = 0; n < 4; ++n) {
        const bool inside = t + 4 * n < count;
        target[n] = inside ? y[t + 4 * n] : (D)0;
        if (HEAVY) weight[n] = inside ? h[t + 4 * n] : (D)0;
        if (bias) shift[n] = bias[own[0][n]];
    }
    int slot = 0, free = STEPS_AHEAD;
#pragma unroll 1
    for (int from = t; from - t < count; from += STEP) {
        Row<N> rows[4];
        wait_for_copies<STEPS_AHEAD - 1>();
#pragma unroll
        for (int n = 0; n < 4; ++n) rows[n].take(ring + (4 * slot + n) * part);
#pragma unroll
        for (int n = 0; n < 4; ++n) Row<N>::fetch(ring + (4 * free + n) * part, Q, own[STEPS_AHEAD][n], g);
        end_copies();
        free = slot;
        slot = slot + 1 < STEPS_KEPT ? slot + 1 : 0;
#pragma unroll
        for (int n = 0; n < 4; ++n) {
            const int e = from + 4 * n;
            const double r = (double)target[n] - shift[n], w = HEAVY ? (double)weight[n] : 1.0;
            if (OFFSET) {
                if (e < count) {
                    sums.totals[0] += w * r;
                    sums.totals[1] += w;
                    if (bias_variance) sums.totals[2] += w * bias_variance[own[0][n]];
                }
                Row<N> v = {};
                if (W) v.load(W + (i64)own[0][n] * (8 * N), g);
#pragma unroll
                for (int line = 0; line < N; ++line) {
                    sums.sums[OFFSET ? line : 0] += (float)w * rows[n].at[line];
                    sums.spread[OFFSET ? line : 0] += (float)w * v.at[line];
                }
            }
#pragma unroll
            for (int line = 0; line < N; ++line) sums.sides[line] += (float)(w * r) * rows[n].at[line];
            if (HEAVY) {
                const float half = root((float)w);
#pragma unroll
                for (int line = 0; line < N; ++line) rows[n].at[line] *= half;
            }
#pragma unroll
            for (int k = 0; k < STEPS_AHEAD; ++k) own[k][n] = own[k + 1][n];
            own[STEPS_AHEAD][n] = e + STEP * STEPS_KEPT < count ? indices[e + STEP * STEPS_KEPT] : zero;
            const bool inside = e + STEP < count;
            target[n] = inside ? y[e + STEP] : (D)0;
            if (HEAVY) weight[n] = inside ? h[e + STEP] : (D)0;
            if (bias) shift[n] = bias[own[0][n]];
        }
        add_gram(M, rows);
    }
}

// What `grams` leaves of a piece, from the registers.
template <int N, bool OFFSET>
__device__ __forceinline__ void write_piece(float* place, const Tiles<N>& M, Sums<N, OFFSET>& sums) {
    const int g = LANE / 4, t = LANE % 4;
#pragma unroll
    for (int line = 0; line < N; ++line)
#pragma unroll
        for (int c = 0; c <= line; ++c) {
            Two<float> pair;
#pragma unroll
            for (int n = 0; n < 2; ++n) pair.at[n] = M.at[line / 2][c][2 * (line % 2) + n];
            *(Two<float>*)(place + 64 * tile_at(line, c) + 8 * g + 2 * t) = pair;
        }
    place += 64 * tile_at(N, 0);
#pragma unroll
    for (int line = 0; line < N; ++line) {
        double three[3] = {(double)sums.sides[line], 0, 0};
        if (OFFSET) three[1] = sums.sums[OFFSET ? line : 0], three[2] = sums.spread[OFFSET ? line : 0];
#pragma unroll
        for (int n = 0; n < 3; ++n) {
            for (int mask = 2; mask; mask /= 2) three[n] += shuffle_xor(three[n], mask);
            if (t == 0) place[8 * N * n + 8 * line + g] = (float)three[n];
        }
    }
#pragma unroll
    for (int n = 0; n < 3; ++n) {
        for (int mask = 2; mask; mask /= 2) sums.totals[n] += shuffle_xor(sums.totals[n], mask);
        if (LANE == 0) place[24 * N + n] = (float)sums.totals[n];
    }
}

// Pieces begin ... begin + pieces - 1 of cells of single precision, as `grams` does it; Q and W are arranged.
template <typename D, int N, bool HEAVY, bool OFFSET>
__global__ void __launch_bounds__(64, WARPS_ASKED(N) / 2)
single_grams(i64 begin, i64 pieces, const i64* __restrict__ starts, const int* __restrict__ indices,
             const D* __restrict__ h, const D* __restrict__ y, const float* __restrict__ bias,
             const float* __restrict__ bias_variance, int zero, const float* __restrict__ Q,
             const float* __restrict__ W, float* __restrict__ out) {
    const i64 piece = WARP_INDEX;
    if (piece >= pieces) return;
    Tiles<N> M = {};
    Sums<N, OFFSET> sums = {};
    sum_cells<D, N, HEAVY, OFFSET>(starts[begin + piece], starts[begin + piece + 1], indices, h, y, bias,
                                   bias_variance, zero, Q, W, M, sums);
    write_piece(out + piece * piece_size(N), M, sums);
}

// The same for plain half-sweeps: where a piece is all of its group, the group's system is solved at once, and
// else left for `solve_parts`. places[p] counts the pieces before p that are so left.
template <typename D, int N, bool HEAVY>
__global__ void __launch_bounds__(64, WARPS_ASKED(N) / 2)
sweep_pieces(i64 begin, i64 pieces, const i64* __restrict__ starts, const int* __restrict__ groups,
             const i64* __restrict__ places, const int* __restrict__ indices, const D* __restrict__ h,
             const D* __restrict__ y, const float* __restrict__ bias, int zero, const float* __restrict__ Q, RIDGE,
             float* __restrict__ parts, float* __restrict__ out) {
    const i64 p = begin + WARP_INDEX;
    if (p >= begin + pieces) return;
    Tiles<N> M = {};
    Sums<N, false> sums = {};
    sum_cells<D, N, HEAVY, false>(starts[p], starts[p + 1], indices, h, y, bias, nullptr, zero, Q, nullptr, M, sums);
    if (places[p + 1] > places[p]) write_piece(parts + (places[p] - places[begin]) * piece_size(N), M, sums);
    else finish_system<N>({weight, prior, shift, stride, tau, jitter, s}, groups[p], M, sums.sides, out);
}

// The first part of each of the groups many[...] becomes the sum of all, in order; see `sweep_pieces`.
__global__ void add_parts(i64 begin, i64 count, const i64* __restrict__ many, const i64* __restrict__ first,
                          const i64* __restrict__ places, int size, float* parts) {
    const i64 at = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count * size) return;
    const i64 i = many[at / size];
    float* own = parts + (places[first[i]] - places[begin]) * size + at % size;
    *own = (float)gathered(own, first[i + 1] - first[i], size, 0);
}

// The systems of these groups, from those sums, one a warp.
template <int N>
__global__ void __launch_bounds__(64, WARPS_ASKED(N) / 2)
solve_parts(i64 begin, i64 count, const i64* __restrict__ many, const i64* __restrict__ first,
            const i64* __restrict__ places, RIDGE, const float* __restrict__ parts, float* __restrict__ out) {
    if (WARP_INDEX >= count) return;
    const int g = LANE / 4, t = LANE % 4;
    const i64 i = many[WARP_INDEX];
    const float* own = parts + (places[first[i]] - places[begin]) * piece_size(N);
    Tiles<N> M = {};
    float b[N];
#pragma unroll
    for (int line = 0; line < N; ++line) {
#pragma unroll
        for (int c = 0; c <= line; ++c) {
            const Two<float> pair = *(const Two<float>*)(own + 64 * tile_at(line, c) + 8 * g + 2 * t);
#pragma unroll
            for (int n = 0; n < 2; ++n) M.at[line / 2][c][2 * (line % 2) + n] = pair.at[n];
        }
        b[line] = t == 0 ? own[64 * tile_at(N, 0) + 8 * line + g] : 0.0f;
    }
    finish_system<N>({weight, prior, shift, stride, tau, jitter, s}, i, M, b, out);
}
