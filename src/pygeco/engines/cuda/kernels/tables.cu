// Every cell of a dense matrix.

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
