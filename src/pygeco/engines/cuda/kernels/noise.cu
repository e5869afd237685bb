// Normal numbers by their place, the same as on the CPU: see engines/cpu/noise_kernels.py.

typedef unsigned int u32;

__device__ __forceinline__ u32 rotate(u32 x, int by) { return (x << by) | (x >> (32 - by)); }

__device__ __forceinline__ void mix(u32& x, u32& y, int a, int b, int c, int d) {
    x += y, y = rotate(y, a) ^ x;
    x += y, y = rotate(y, b) ^ x;
    x += y, y = rotate(y, c) ^ x;
    x += y, y = rotate(y, d) ^ x;
}

// Threefry-2x32 in 20 rounds: x and y come in as the place of a pair.
__device__ __forceinline__ void make_words(u32 low, u32 high, u32& x, u32& y) {
    const u32 third = low ^ high ^ 0x1BD11BDAu;
    x += low, y += high;
    mix(x, y, 13, 15, 26, 6);
    x += high, y += third + 1;
    mix(x, y, 17, 29, 16, 24);
    x += third, y += low + 2;
    mix(x, y, 13, 15, 26, 6);
    x += low, y += high + 3;
    mix(x, y, 17, 29, 16, 24);
    x += high, y += third + 4;
    mix(x, y, 13, 15, 26, 6);
    x += third, y += low + 5;
}

// The inverse error function by Giles's polynomials (2010), times the root of two, with a sign.
__device__ __forceinline__ float make_normal(u32 word) {
    const float center[] = {2.81022636e-08f,  3.43273939e-07f,  -3.5233877e-06f, -4.39150654e-06f, 0.00021858087f,
                            -0.00125372503f, -0.00417768164f, 0.246640727f,    1.50140941f};
    const float tail[] = {-0.000200214257f, 0.000100950558f, 0.00134934322f, -0.00367342844f, 0.00573950773f,
                          -0.0076224613f,   0.00943887047f,  1.00167406f,    2.83297682f};
    const float t = ((float)(int)(word >> 1) + 0.5f) * 4.656612873077393e-10f;
    const float w = -logf(t * (2.0f - t));
    const bool near = w < 5.0f;
    const float v = near ? w - 2.5f : sqrtf(w) - 3.0f;
    float p = near ? center[0] : tail[0];
#pragma unroll
    for (int k = 1; k < 9; ++k) p = (near ? center[k] : tail[k]) + p * v;
    const float size = p * ((1.0f - t) * 1.4142135381698608f);
    return word & 1 ? size : -size;
}

// A thread makes a pair.
__global__ void normals(i64 size, u32 low, u32 high, float* out) {
    const i64 pair = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * pair >= size) return;
    u32 x = (u32)pair, y = (u32)(pair >> 32);
    make_words(low, high, x, y);
    out[2 * pair] = make_normal(x);
    if (2 * pair + 1 < size) out[2 * pair + 1] = make_normal(y);
}
