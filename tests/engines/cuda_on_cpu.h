// CUDA on the CPU: a block's threads run as coroutines on one thread, and meet where a warp must.
#include <cmath>
#include <cstring>
#include <memory>
#include <ucontext.h>
#include <utility>
#include <vector>

#define CPU_TWIN
#define __device__
#define __global__
#define __shared__
#define __forceinline__ inline
#define __restrict__
#define __align__(n) alignas(n)

struct Dim { unsigned x, y; };
static Dim threadIdx, blockIdx, blockDim, gridDim;
alignas(64) double shared[1 << 16];

struct Thread {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    bool done = false;
};
static std::vector<Thread> block_threads;
static ucontext_t scheduler;
static unsigned current;

static void pause_thread() { swapcontext(&block_threads[current].context, &scheduler); }

struct Warp { unsigned arrived = 0, generation = 0; double slot[3][32]; };
static std::vector<Warp> block_warps;
static Warp& own_warp() { return block_warps[threadIdx.x / 32]; }

static void warp_barrier() {
    Warp& warp = own_warp();
    const unsigned generation = warp.generation;
    if (++warp.arrived == 32) {
        warp.arrived = 0;
        ++warp.generation;
        return;
    }
    while (own_warp().generation == generation) pause_thread();
}

static double exchanged(double x, unsigned lane) {
    own_warp().slot[0][threadIdx.x % 32] = x;
    warp_barrier();
    const double y = own_warp().slot[0][lane % 32];
    warp_barrier();
    return y;
}
static double shuffle_xor(double x, int mask) { return exchanged(x, (threadIdx.x % 32) ^ mask); }
static double shuffle(double x, int lane) { return exchanged(x, lane); }
static int shuffle(int x, int lane) { return (int)exchanged(x, lane); }
template <typename T> static T load_once(const T* p) { return *p; }
static float inverse_root(float x) { return 1 / std::sqrt(x); }
static double inverse_root(double x) { return 1 / std::sqrt(x); }

static void multiply(double* c, double a0, double a1, double b) {
    const unsigned lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    double given[3] = {a0, a1, b};
    for (int n = 0; n < 3; ++n) own_warp().slot[n][lane] = given[n];
    warp_barrier();
    for (unsigned k = 0; k < 4; ++k)
        for (unsigned n = 0; n < 4; ++n)
            c[n] += own_warp().slot[n / 2][4 * g + k] * own_warp().slot[2][4 * (2 * t + n % 2) + k];
    warp_barrier();
}

struct Launch { void (*kernel)(void**); void** arguments; };
static Launch launched;
static void enter() {
    launched.kernel(launched.arguments);
    block_threads[current].done = true;
    pause_thread();
}

static void run_block() {
    const unsigned count = blockDim.x;
    block_threads.clear();
    block_threads.resize(count);
    block_warps.assign((count + 31) / 32, Warp());
    for (Thread& thread : block_threads) {
        const size_t size = 1 << 16;
        thread.stack.reset(new char[size]);
        getcontext(&thread.context);
        thread.context.uc_stack.ss_sp = thread.stack.get();
        thread.context.uc_stack.ss_size = size;
        thread.context.uc_link = &scheduler;
        makecontext(&thread.context, enter, 0);
    }
    for (unsigned left = count; left;) {
        left = 0;
        for (current = 0; current < count; ++current) {
            if (block_threads[current].done) continue;
            threadIdx = {current, 0};
            swapcontext(&scheduler, &block_threads[current].context);
            left += !block_threads[current].done;
        }
    }
}

template <auto kernel, typename... A, size_t... I>
static void unpacked(void** arguments, void (*)(A...), std::index_sequence<I...>) {
    kernel(*(A*)arguments[I]...);
}
template <auto kernel, typename... A> static void pass(void** arguments, void (*type)(A...)) {
    unpacked<kernel>(arguments, type, std::index_sequence_for<A...>());
}
template <auto kernel> static void call(void** arguments) { pass<kernel>(arguments, kernel); }

static void launch(void (*kernel)(void**), unsigned gx, unsigned gy, unsigned bx, void** arguments) {
    launched = {kernel, arguments};
    gridDim = {gx, gy};
    blockDim = {bx, 1};
    for (unsigned y = 0; y < gy; ++y)
        for (unsigned x = 0; x < gx; ++x) {
            blockIdx = {x, y};
            run_block();
        }
}
