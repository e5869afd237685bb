// Partial systems of a half-sweep, or of a Newton step, from the cells.

// Where a tile of a lower triangle of 8 x 8 tiles is kept: row by row.
__device__ __forceinline__ i64 tile_at(int r, int c) { return (i64)r * (r + 1) / 2 + c; }

// What a piece leaves for its group's system, one number after the other: the lower triangle of the
// Gram in 8 x 8 tiles, then sides, sums and spread (8 blocks numbers each), then three totals, and one
// number that keeps pieces at multiples of four.
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
// Gram = sum w q q', sides = sum g q. With OFFSET also sums = sum w q, spread = sum w W_j,
// and totals = sum g, sum w, sum w bias_variance[j]; else they are zero.
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
    double totals[3] = {};
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
#pragma unroll
            for (int k = 0; k < ROWS; ++k) sides[k] += (R)side * (R)now.a[k];
            if (OFFSET) {
                if (e < stop) {
                    totals[0] += side;
                    totals[1] += w;
                    if (bias_variance) totals[2] += w * bias_variance[j];
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
    for (int n = 0; n < 3; ++n) {
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
