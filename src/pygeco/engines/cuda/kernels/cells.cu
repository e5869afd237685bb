// Products and predictions over observed cells.

// The sum of data[e] x[indices[e] - base] over the cells start ... stop - 1, by a warp; without x, of
// data[e].
template <typename D>
__device__ __forceinline__ double multiply_run(i64 start, i64 stop, const int* indices, const D* data, const D* x,
                                               int base) {
    double total = 0;
    for (i64 e = start + LANE; e - LANE < stop; e += 4 * WARP) {  // four loads hide their latency
        D part[4];
#pragma unroll
        for (int t = 0; t < 4; ++t) {
            const bool inside = e + t * WARP < stop;
            const D d = inside ? load_once(data + e + t * WARP) : (D)0;
            part[t] = x && inside ? d * x[load_once(indices + e + t * WARP) - base] : d;
        }
        total += (double)((part[0] + part[1]) + (part[2] + part[3]));
    }
    return warp_sum(total);
}

// out[p] = scale * that sum over the cells starts[p] ... stops[p] - 1.
template <typename D>
__global__ void matvec(i64 pieces, const i64* starts, const i64* stops, const int* indices, const D* data,
                       double scale, const D* x, double* out) {
    const i64 p = WARP_INDEX;
    if (p >= pieces) return;
    const double total = multiply_run(starts[p], stops[p], indices, data, x, 0);
    if (LANE == 0) out[p] = scale * total;
}

// The same where the other side of the cells is within `numbers` from the base of their block on. A block
// keeps these numbers of x.
template <typename D>
__global__ void __launch_bounds__(1024, 2) matvec_ranges(i64 numbers, i64 others, const i64* chunks, const i64* bases, const i64* starts,
                              const i64* stops, const int* indices, const D* data, const D* x, double* out) {
    extern __shared__ double shared[];
    D* range = (D*)shared;
    const i64 last = chunks[blockIdx.x + 1], base = bases[blockIdx.x];
    const i64 count = others - base < numbers ? others - base : numbers;
    for (i64 k = threadIdx.x; k < count; k += blockDim.x) range[k] = x[base + k];
    block_barrier();
    for (i64 p = chunks[blockIdx.x] + threadIdx.x / WARP; p < last; p += blockDim.x / WARP) {
        const double total = multiply_run(starts[p], stops[p], indices, data, range, (int)base);
        if (LANE == 0) out[p] = total;
    }
}

// out[i] = scale * sum of partial[p] over the pieces of group i in each range, in order.
__global__ void add_ranges(i64 parts, i64 groups, const i64* first, double scale, const double* partial, double* out) {
    const i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= groups) return;
    double total = 0;
    for (i64 r = i; r < parts * groups; r += groups)
        for (i64 p = first[r]; p < first[r + 1]; ++p) total += partial[p];
    out[i] = scale * total;
}

// out[p, c] = sum of a X[j, c] over piece p, j the other side of the cell and a = data[e] x[j]; without
// data or x they count as 1. A warp takes 32 C columns, those of blockIdx.y.
template <typename D, typename T, int C>
__global__ void matmat(i64 pieces, const i64* starts, const int* indices, const D* data, const T* x,
                       int columns, const T* __restrict__ X, T* out) {
    const i64 p = WARP_INDEX;
    if (p >= pieces) return;
    const int first = blockIdx.y * WARP * C + LANE;
    const i64 stop = starts[p + 1];
    T total[C] = {};
    for (i64 e = starts[p]; e < stop; e += WARP) {
        const bool inside = e + LANE < stop;
        const int own = inside ? indices[e + LANE] : 0;
        const T a = inside ? (data ? (T)data[e + LANE] : (T)1) * (x ? x[own] : (T)1) : (T)0;
        const int count = stop - e < WARP ? (int)(stop - e) : WARP;
#pragma unroll 4
        for (int t = 0; t < count; ++t) {
            const T* row = X + (i64)shuffle(own, t) * columns;
            const T factor = shuffle(a, t);
#pragma unroll
            for (int c = 0; c < C; ++c)
                if (first + c * WARP < columns) total[c] += factor * row[first + c * WARP];
        }
    }
#pragma unroll
    for (int c = 0; c < C; ++c)
        if (first + c * WARP < columns) out[p * columns + first + c * WARP] = total[c];
}

// out[i, c] = scale own[i] * (sum of partial[p, c] over the pieces of group i, in order) - pull[i] shift[c];
// without own, or pull, that is left out.
template <typename T>
__global__ void add_pieces(i64 groups, const i64* first, int columns, double scale, const T* own, const T* pull,
                           const T* shift, const T* partial, T* out) {
    const i64 at = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= groups * columns) return;
    const i64 i = at / columns, c = at % columns;
    double total = 0;
    for (i64 p = first[i]; p < first[i + 1]; ++p) total += partial[p * columns + c];
    if (own) total *= own[i];
    total *= scale;
    out[at] = (T)(pull ? total - (double)pull[i] * shift[c] : total);
}

// z = <P_i, Q_j> for the cells of pieces begin ... begin + pieces - 1; groups[p] is the group of a piece.
// Without values out[e - base] = z. Else out = w (z - y), if there is an out, and sums[p] gets the sum of
// w (z - y)^2, sums[all + p] that of w (z - y) z. Eight lanes share eight cells, each takes four of the s
// numbers (a multiple of four) at once; at the end each has the sum for its own cell.
template <typename T>
__global__ void predictions(i64 begin, i64 pieces, const i64* starts, const int* groups, const int* indices,
                            const T* values, const T* weights, int s, const T* __restrict__ P,
                            const T* __restrict__ Q, i64 base, T* out, i64 all, double* sums) {
    const i64 p = begin + WARP_INDEX;
    if (p >= begin + pieces) return;
    const int part = LANE % 8;
    const T* own = P + (i64)groups[p] * s;
    const i64 stop = starts[p + 1];
    double squares = 0, inner = 0;
    for (i64 e = starts[p] + LANE; e - LANE < stop; e += WARP) {
        const bool inside = e < stop;
        const int mine = inside ? indices[e] : 0;
        const T* other[8];
        T z[8] = {};
#pragma unroll
        for (int t = 0; t < 8; ++t) other[t] = Q + (i64)shuffle(mine, LANE - part + t) * s;
        for (int k = 4 * part; k < s; k += WARP) {
            const Four<T> u = *(const Four<T>*)(own + k);
#pragma unroll
            for (int t = 0; t < 8; ++t) {
                const Four<T> v = *(const Four<T>*)(other[t] + k);
#pragma unroll
                for (int n = 0; n < 4; ++n) z[t] += u.at[n] * v.at[n];
            }
        }
#pragma unroll
        for (int half = 4; half; half /= 2) {
            const bool up = part & half;
#pragma unroll
            for (int t = 0; t < half; ++t) {
                const T give = up ? z[t] : z[t + half];
                z[t] = (up ? z[t + half] : z[t]) + shuffle_xor(give, half);
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
        if (out) out[e - base] = (T)wr;
        squares += wr * r;
        inner += wr * whole;
    }
    if (!values) return;
    squares = warp_sum(squares);
    inner = warp_sum(inner);
    if (LANE == 0) {
        sums[p] = squares;
        sums[all + p] = inner;
    }
}
