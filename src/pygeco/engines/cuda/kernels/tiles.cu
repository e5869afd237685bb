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

// Columns 8p ... 8p + 7 of the Cholesky factor, two at a time, from their Schur complement in place, with
// 1 / L[k][k] on the diagonal. y, of which a lane has that of row g, becomes L^-1 y.
template <int N> __device__ __forceinline__ void factorise_columns(Tiles<N>& M, int p, float& y) {
    const int g = LANE / 4, t = LANE % 4;
    float* own = M.at[p / 2][p] + 2 * (p % 2);
#pragma unroll 1
    for (int pair = 0; pair < 4; ++pair) {
        const int j = 2 * pair, first = 4 * j + pair, second = first + 4;  // lanes of two diagonal entries
        const float a = shuffle(own[0], first), b = shuffle(own[0], second), c = shuffle(own[1], second);
        float up0 = shuffle(own[0], 8 * t + pair), up1 = shuffle(own[1], 8 * t + pair);
        float low0 = shuffle(own[0], 8 * t + 4 + pair), low1 = shuffle(own[1], 8 * t + 4 + pair);
        float y0 = shuffle(y, 4 * j), y1 = shuffle(y, 4 * j + 4);
        const float inverse0 = inverse_root(a > 1e-30f ? a : 1e-30f), beside = b * inverse0;
        const float rest = c - beside * beside, inverse1 = inverse_root(rest > 1e-30f ? rest : 1e-30f);
        up0 *= inverse0, low0 *= inverse0, y0 *= inverse0;
        up1 = (up1 - beside * up0) * inverse1;
        low1 = (low1 - beside * low0) * inverse1;
        y1 = (y1 - beside * y0) * inverse1;
        if (t <= pair) up0 = up1 = low0 = low1 = 0;
#pragma unroll
        for (int line = p; line < N; ++line) {
            float* tile = M.at[line / 2][p] + 2 * (line % 2);
            float left0 = shuffle(tile[0], 4 * g + pair) * inverse0;
            float left1 = (shuffle(tile[1], 4 * g + pair) - beside * left0) * inverse1;
            tile[0] -= left0 * up0 + left1 * up1;
            tile[1] -= left0 * low0 + left1 * low1;
            if (line == p) {
                if (g > j + 1) y -= left0 * y0 + left1 * y1;
                if (g == j) y = y0, left0 = inverse0;
                if (g == j + 1) y = y1, left1 = inverse1;
            }
            if (t == pair) tile[0] = left0, tile[1] = left1;
        }
    }
}

// Cholesky of M in place; b, line by line in parts that sum up over t, becomes L^-1 b, whole.
template <int N> __device__ __forceinline__ void factorise_tiles(Tiles<N>& M, float* b) {
    const int t = LANE % 4;
#pragma unroll
    for (int p = 0; p < N; ++p) {
        b[p] += shuffle_xor(b[p], 1);
        b[p] += shuffle_xor(b[p], 2);
        factorise_columns(M, p, b[p]);
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

// y := L^-T y, line by line.
template <int N> __device__ __forceinline__ void back_substitute_tiles(const Tiles<N>& L, float* y) {
    const int g = LANE / 4, t = LANE % 4;
#pragma unroll
    for (int p = N - 1; p >= 0; --p) {
        const float* own = L.at[p / 2][p] + 2 * (p % 2);
        float v[2] = {0, 0};
#pragma unroll
        for (int line = p + 1; line < N; ++line)
#pragma unroll
            for (int n = 0; n < 2; ++n) v[n] -= L.at[line / 2][p][2 * (line % 2) + n] * y[line];
#pragma unroll
        for (int n = 0; n < 2; ++n) {
            for (int mask = 4; mask < WARP; mask *= 2) v[n] += shuffle_xor(v[n], mask);
            v[n] += shuffle(y[p], 8 * t + 4 * n);
        }
        float mine = 0;
#pragma unroll 1
        for (int pair = 3; pair >= 0; --pair) {
            const int j = 2 * pair, first = 4 * j + pair, second = first + 4;
            const float inverse0 = shuffle(own[0], first), inverse1 = shuffle(own[1], second);
            const float beside = shuffle(own[0], second);
            const float x1 = shuffle(v[1], pair) * inverse1, x0 = (shuffle(v[0], pair) - beside * x1) * inverse0;
#pragma unroll
            for (int n = 0; n < 2; ++n) {
                const float sum = shuffle(own[n], 4 * j + t) * x0 + shuffle(own[n], 4 * j + 4 + t) * x1;
                if (t < pair) v[n] -= sum;
            }
            if (g == j) mine = x0;
            if (g == j + 1) mine = x1;
        }
        y[p] = mine;
    }
}
