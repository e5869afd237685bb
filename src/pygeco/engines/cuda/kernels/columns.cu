// Passes over tall arrays (size, k) of single precision, one system a column, and the sums of columns.
//
// A warp takes `length` rows of 32 columns: those of blockIdx.y. sums[p, c] is what its part p adds.

#define FOR_PART_ROWS                                       \
    const i64 part = WARP_INDEX, begin = part * length;     \
    const int c = blockIdx.y * WARP + LANE;                 \
    if (begin >= size || c >= k) return;                    \
    const i64 end = begin + length < size ? begin + length : size; \
    for (i64 i = begin, at = begin * k + c; i < end; ++i, at += k)

// The sums of scale R R.
__global__ void measure(i64 size, int k, i64 length, const float* __restrict__ R,
                        const float* __restrict__ scale, double* sums) {
    double total = 0;
    FOR_PART_ROWS total += (double)(R[at] * (scale[i] * R[at]));
    sums[part * k + c] = total;
}

// The rows (x_i, b_i) that count, less `less`, a one, and their variances, zeros for the
// others: d + 1 numbers, or 2 d + 1 where variances are known. A thread a number.
__global__ void stack_rows(i64 size, int d, int width, const float* factor, const float* bias,
                           const float* variance, const float* bias_variance, const bool* some,
                           const float* less, double* out) {
    const i64 at = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= size * width) return;
    const i64 i = at / width;
    const int c = (int)(at % width), v = c - d - 1;
    double x = 1;
    if (c < d) {
        x = c < d - 1 ? factor[i * (d - 1) + c] : bias[i];
        if (less) x -= less[i * d + c];
    } else if (v >= 0) {
        x = v < d - 1 ? variance[i * (d - 1) + v] : bias_variance[i];
    }
    out[at] = some[i] ? x : 0.0;
}

// out = mean - back (old - mean) + rest (draw - mean). A thread a number.
__global__ void reflect(i64 size, const float* __restrict__ draw, const float* __restrict__ mean,
                        const float* __restrict__ old, float back, float rest, float* out) {
    const i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) out[i] = mean[i] - back * (old[i] - mean[i]) + rest * (draw[i] - mean[i]);
}

// out[i] = (X_i, first_i, second_i), ones for those that are not given. A thread a number.
__global__ void append_columns(i64 size, int s, const float* X, const float* first, const float* second,
                               double* out) {
    const i64 at = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= size * (s + 2)) return;
    const i64 i = at / (s + 2);
    const int c = (int)(at % (s + 2));
    const float* column = c == s ? first : second;
    out[at] = c < s ? X[i * s + c] : column ? column[i] : 1.0f;
}

// The sums of long rows x[r], `parts` of them each, a warp a part: part p has every number whose place,
// divided by a warp's size, leaves p modulo their number.
__global__ void add_long_rows(i64 size, i64 parts, const double* x, double* out) {
    const i64 p = WARP_INDEX;
    if (p >= parts) return;
    const double* row = x + blockIdx.y * size;
    double total = 0;
    for (i64 i = p * WARP + LANE; i < size; i += parts * WARP) total += row[i];
    total = warp_sum(total);
    if (LANE == 0) out[blockIdx.y * parts + p] = total;
}

// out[c] = sum of partial[p, c] over the parts, by a warp: always in the same order.
__global__ void add_columns(i64 parts, int k, const double* partial, double* out) {
    const i64 c = WARP_INDEX;
    if (c >= k) return;
    double total = 0;
    for (i64 p = LANE; p < parts; p += WARP) total += partial[p * k + c];
    total = warp_sum(total);
    if (LANE == 0) out[c] = total;
}
