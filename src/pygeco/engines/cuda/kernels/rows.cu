// Rows of factors in single precision, as a warp reads them for its matrix instructions.

// Where column 8 line + g is kept, so that a lane reads its entries of all lines in few loads.
__device__ __forceinline__ int place_of(int lines, int line, int g) {
    const int whole = lines / 4 * 4;
    if (line < whole) return line / 4 * 32 + 4 * g + line % 4;
    if (lines % 4 >= 2 && line < whole + 2) return 8 * whole + 2 * g + line - whole;
    return 8 * line + g;
}

// X (size, s) with its columns where `Row` reads them, zeros for those beyond, and a row of zeros.
template <typename F>
__global__ void arrange(i64 size, int s, int lines, const F* __restrict__ X, float* out) {
    const i64 at = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    const int width = 8 * lines;
    if (at >= (size + 1) * width) return;
    const i64 i = at / width;
    const int k = (int)(at % width);
    out[i * width + place_of(lines, k / 8, k % 8)] = i < size && k < s ? (float)X[i * s + k] : 0.0f;
}

// A lane's entries of a row: in pieces of four, then of two and of one, each beside those of the other lanes.
template <int N> struct Row {
    static const int FOURS = N / 4, TWO = N % 4 / 2, ONE = N % 2, PIECES = FOURS + TWO + ONE;
    float at[LINES(N)];
    __device__ __forceinline__ void read(const float* row, int four, int two, int one, int step) {
#pragma unroll
        for (int u = 0; u < FOURS; ++u) {
            const Four<float> x = *(const Four<float>*)(row + step * u + four);
#pragma unroll
            for (int n = 0; n < 4; ++n) at[4 * u + n] = x.at[n];
        }
        if (TWO) {
            const Two<float> x = *(const Two<float>*)(row + step * FOURS + two);
            at[4 * FOURS] = x.at[0];
            at[4 * FOURS + TWO] = x.at[1];
        }
        if (ONE) at[N - 1] = row[step * FOURS + step / 2 * TWO + one];
        if (ONE) at[LINES(N) - 1] = 0;
    }
    // From global memory, where the columns are as `place_of` says.
    __device__ __forceinline__ void load(const float* row, int g) { read(row, 4 * g, 2 * g, g, 32); }
    // Of what `fetch` brought to this lane's part of shared memory.
    __device__ __forceinline__ void take(const float* ring) { read(ring, 4 * LANE, 2 * LANE, LANE, 4 * WARP); }
    static __device__ __forceinline__ void fetch(float* ring, const float* Q, int j, int g) {
        const float *fours = Q + 4 * g, *two = Q + 32 * FOURS + 2 * g, *one = Q + 32 * FOURS + 16 * TWO + g;
        const i64 at = (i64)j * (8 * N);
#pragma unroll
        for (int u = 0; u < FOURS; ++u) copy_ahead<16>(ring + 4 * WARP * u + 4 * LANE, fours + at + 32 * u);
        if (TWO) copy_ahead<8>(ring + 4 * WARP * FOURS + 2 * LANE, two + at);
        if (ONE) copy_ahead<4>(ring + 4 * WARP * FOURS + 2 * WARP * TWO + LANE, one + at);
    }
};
