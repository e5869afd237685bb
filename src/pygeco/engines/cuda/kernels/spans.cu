// A vector's part in the span of k orthonormal rows Q (k, size), in double precision.
//
// A warp takes `length` numbers of the vector. sums[p, j] is what its part p adds to <Q_j, x>, and
// sums[p, k] what it adds to <x, x>.

// Four products at a time: so many loads hide their latency.
__device__ __forceinline__ void project_part(i64 part, i64 begin, i64 end, i64 size, int k, const double* Q,
                                             const double* x, double* sums) {
    for (int j = 0; j <= k; j += 4) {
        const double* rows[4];
        double total[4] = {};
#pragma unroll
        for (int t = 0; t < 4; ++t) rows[t] = j + t < k ? Q + (j + t) * size : x;
#pragma unroll 2
        for (i64 i = begin + LANE; i < end; i += WARP) {
            const double own = x[i];
#pragma unroll
            for (int t = 0; t < 4; ++t) total[t] += rows[t][i] * own;
        }
#pragma unroll
        for (int t = 0; t < 4; ++t) {
            total[t] = warp_sum(total[t]);
            if (LANE == 0 && j + t <= k) sums[part * (k + 1) + j + t] = total[t];
        }
    }
}

// x_i less the sum of c_j Q_ji.
__device__ __forceinline__ double subtract_rows(i64 i, i64 size, int k, const double* Q, const double* c, double x) {
    double total = 0;
#pragma unroll 8
    for (int j = 0; j < k; ++j) total += c[j] * Q[j * size + i];
    return x - total;
}

__global__ void project(i64 size, int k, i64 length, const double* __restrict__ Q, const double* __restrict__ x,
                        double* sums) {
    const i64 part = WARP_INDEX, begin = part * length;
    if (begin >= size) return;
    project_part(part, begin, begin + length < size ? begin + length : size, size, k, Q, x, sums);
}

// y = x - c Q, and the sums for y. A lane reads again what it wrote itself.
__global__ void subtract_projection(i64 size, int k, i64 length, const double* __restrict__ Q,
                                    const double* __restrict__ x, const double* __restrict__ c, double* y,
                                    double* sums) {
    const i64 part = WARP_INDEX, begin = part * length;
    if (begin >= size) return;
    const i64 end = begin + length < size ? begin + length : size;
    for (i64 i = begin + LANE; i < end; i += WARP) y[i] = subtract_rows(i, size, k, Q, c, x[i]);
    project_part(part, begin, end, size, k, Q, y, sums);
}

// (y - c Q) / size with size^2 = c_k - |c|^2, where that is between low and high; else undivided. A thread a
// number.
__global__ void subtract_again(i64 size, int k, const double* __restrict__ Q, const double* __restrict__ c, double low,
                               double high, double* y) {
    const i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;
    double square = c[k];
    for (int j = 0; j < k; ++j) square -= c[j] * c[j];
    const double rest = subtract_rows(i, size, k, Q, c, y[i]);
    y[i] = square > low && square < high ? rest / sqrt(square) : rest;
}
