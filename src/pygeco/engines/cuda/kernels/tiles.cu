// Symmetric matrices of single precision in a warp's registers, as 16 x 8 tiles of their lower triangle.
//
// Of tile (k, c), rows 16 k ... and columns 8 c ..., a lane holds what a matrix instruction leaves there: with
// g = lane / 4 and t = lane % 4 the entries (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1). A line is
// eight rows; the matrix has N lines.

#define LINES(N) ((N) + (N) % 2)
template <int N> struct Tiles { float at[LINES(N) / 2][N][4]; };

// Eight numbers of each line, two a lane, as operands: x = hi + lo up to 2^-22 of x.
template <int N> struct Operand {
    float hi[LINES(N)][2], lo[LINES(N)][2];
    __device__ __forceinline__ void set(int line, int n, float x) {
        hi[line][n] = shorten(x);
        lo[line][n] = x - hi[line][n];
    }
};

// Sixteen numbers of each line, four a lane, in half precision: the same of x up to 2^15.
template <int N> struct HalfOperand {
    unsigned hi[LINES(N)][2], lo[LINES(N)][2];
    __device__ __forceinline__ void set(int line, int n, float x, float y) {
        float high_x, high_y;
        hi[line][n] = pack_halves(x, y);
        unpack_halves(hi[line][n], high_x, high_y);
        lo[line][n] = pack_halves(x - high_x, y - high_y);
    }
};

// The product of lines 2k, 2k + 1 and line c of an operand. An instruction rounds its sum towards zero: what
// it adds to must be small, so sums go on outside.
template <typename T>
__device__ __forceinline__ void multiply_lines(float* out, const T& a, int k, int c) {
    const int u = 2 * k, v = u + 1;
#pragma unroll
    for (int n = 0; n < 4; ++n) out[n] = 0;
    multiply(out, a.lo[u][0], a.lo[v][0], a.lo[u][1], a.lo[v][1], a.hi[c][0], a.hi[c][1]);
    multiply(out, a.hi[u][0], a.hi[v][0], a.hi[u][1], a.hi[v][1], a.lo[c][0], a.lo[c][1]);
    multiply(out, a.hi[u][0], a.hi[v][0], a.hi[u][1], a.hi[v][1], a.hi[c][0], a.hi[c][1]);
}

// Block p of the diagonal, a Schur complement, becomes the inverse of its Cholesky factor, from two columns at
// a time. What it leaves of earlier rows and columns is nothing that anybody reads.
template <int N> __device__ __forceinline__ void invert_corner(Tiles<N>& M, int p) {
    const int g = LANE / 4, t = LANE % 4;
    float* own = M.at[p / 2][p] + 2 * (p % 2);
    float x[2] = {g == 2 * t ? 1.0f : 0.0f, g == 2 * t + 1 ? 1.0f : 0.0f};
#pragma unroll 1
    for (int pair = 0; pair < 4; ++pair) {
        const int j = 2 * pair, first = 4 * j + pair, second = first + 4;  // lanes of two diagonal entries
        const float a = shuffle(own[0], first), b = shuffle(own[0], second), c = shuffle(own[1], second);
        const float inverse0 = inverse_root(a > 1e-30f ? a : 1e-30f), beside = b * inverse0;
        const float rest = c - beside * beside, inverse1 = inverse_root(rest > 1e-30f ? rest : 1e-30f);
        const float left0 = shuffle(own[0], 4 * g + pair) * inverse0;
        const float left1 = (shuffle(own[1], 4 * g + pair) - beside * left0) * inverse1;
        float up[2];
#pragma unroll
        for (int n = 0; n < 2; ++n) {
            const float up0 = shuffle(own[0], 8 * t + 4 * n + pair) * inverse0;
            const float up1 = (shuffle(own[1], 8 * t + 4 * n + pair) - beside * up0) * inverse1;
            up[n] = left0 * up0 + left1 * up1;
        }
#pragma unroll
        for (int n = 0; n < 2; ++n) {
            const float top = shuffle(x[n], 4 * j + t) * inverse0;
            const float next = (shuffle(x[n], 4 * j + 4 + t) - beside * top) * inverse1;
            if (g > j + 1) x[n] -= left0 * top + left1 * next;
            if (g == j) x[n] = top;
            if (g == j + 1) x[n] = next;
            own[n] -= up[n];
        }
    }
    own[0] = x[0], own[1] = x[1];
}

// The lines below block p, times the transpose of its inverse: columns of the Cholesky factor.
template <int N> __device__ __forceinline__ void finish_columns(Tiles<N>& M, int p) {
    const float* own = M.at[p / 2][p] + 2 * (p % 2);
    const float high[2] = {shorten(own[0]), shorten(own[1])}, low[2] = {own[0] - high[0], own[1] - high[1]};
#pragma unroll
    for (int k = (p + 1) / 2; k < LINES(N) / 2; ++k) {
        float *tile = M.at[k][p], hi[4], lo[4], out[4] = {};
#pragma unroll
        for (int n = 0; n < 4; ++n) hi[n] = shorten(tile[n]), lo[n] = tile[n] - hi[n];
        // The numbers 2t of the columns stand for those that the instruction calls t, 2t + 1 for t + 4.
        multiply(out, lo[0], lo[2], lo[1], lo[3], high[0], high[1]);
        multiply(out, hi[0], hi[2], hi[1], hi[3], low[0], low[1]);
        multiply(out, hi[0], hi[2], hi[1], hi[3], high[0], high[1]);
#pragma unroll
        for (int n = 0; n < 4; ++n)
            if (2 * k + n / 2 > p) tile[n] = out[n];
    }
}

// Cholesky of M in place, with the inverses of its factor's diagonal blocks; b, line by line in parts that sum
// up over t, becomes L^-1 b, whole.
template <int N> __device__ __forceinline__ void factorise_tiles(Tiles<N>& M, float* b) {
    const int t = LANE % 4;
#pragma unroll
    for (int p = 0; p < N; ++p) {
        invert_corner(M, p);
        finish_columns(M, p);
        const float* own = M.at[p / 2][p] + 2 * (p % 2);
        b[p] += shuffle_xor(b[p], 1);
        b[p] += shuffle_xor(b[p], 2);
        float y = own[0] * shuffle(b[p], 8 * t) + own[1] * shuffle(b[p], 8 * t + 4);
        y += shuffle_xor(y, 1);
        b[p] = y + shuffle_xor(y, 2);
        const float y0 = shuffle(b[p], 8 * t), y1 = shuffle(b[p], 8 * t + 4);
        Operand<N> L;
#pragma unroll
        for (int line = 0; line < LINES(N); ++line)
#pragma unroll
            for (int n = 0; n < 2; ++n) {
                const bool below = line > p && line < N;
                const float x = below ? M.at[line / 2][p][2 * (line % 2) + n] : 0.0f;
                L.set(line, n, x);
                if (below) b[line] -= x * (n ? y1 : y0);
            }
#pragma unroll
        for (int c = p + 1; c < N; ++c)
#pragma unroll
            for (int k = c / 2; k < LINES(N) / 2; ++k) {
                float product[4];
                multiply_lines(product, L, k, c);
#pragma unroll
                for (int n = 0; n < 4; ++n) M.at[k][c][n] -= product[n];
            }
    }
}

// Of two numbers a lane, those of columns 2t and 2t + 1, the sum over g of column g.
__device__ __forceinline__ float sum_to_rows(float* v) {
    const int g = LANE / 4;
#pragma unroll
    for (int n = 0; n < 2; ++n)
        for (int mask = 4; mask < WARP; mask *= 2) v[n] += shuffle_xor(v[n], mask);
    const float even = shuffle(v[0], g / 2), odd = shuffle(v[1], g / 2);
    return g % 2 ? odd : even;
}

// y := L^-T y, line by line.
template <int N> __device__ __forceinline__ void back_substitute_tiles(const Tiles<N>& L, float* y) {
#pragma unroll
    for (int p = N - 1; p >= 0; --p) {
        const float* own = L.at[p / 2][p] + 2 * (p % 2);
        float v[2] = {0, 0};
#pragma unroll
        for (int line = p + 1; line < N; ++line)
#pragma unroll
            for (int n = 0; n < 2; ++n) v[n] -= L.at[line / 2][p][2 * (line % 2) + n] * y[line];
        const float right = p + 1 < N ? y[p] + sum_to_rows(v) : y[p];
#pragma unroll
        for (int n = 0; n < 2; ++n) v[n] = own[n] * right;
        y[p] = sum_to_rows(v);
    }
}
