// problem: copy
// why: device variables in every place where they can be declared, and host variables that are passed by value
#include <hip/hip_runtime.h>

struct Settings {
    float factor;
    int rows[3];
};
__constant__
Settings settings,
         spare;
namespace counts {
__device__ unsigned long long touched;
}
struct Holder {
    static __device__ float zero;
};
__device__ float Holder::zero = 0.0f;
inline __device__ int one = 1;
template <class T>
__device__ T none = T(0);
__managed__ int launches = 0;
static constexpr float table[2] = {0.0f, 1.0f};

static Settings of_the_host;
static size_t length;

__device__ unsigned next() {
    static unsigned ticket = 0;
    return atomicAdd(&ticket, 1u);
}

__global__ void run(const float* input, float* output, size_t n, Settings given, unsigned long long* touched) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    if (i == 0) atomicAdd(&launches, one);
    const Settings own = settings;
    output[i] = input[i] * own.factor * given.factor + Holder::zero + none<float> + 0.0f * table[next() % 2];
    atomicAdd(touched, 1ull);
}

extern "C" void solution(const float* input, float* output, size_t n) {
    of_the_host = {1.0f, {1, 2, 3}};
    length = n;
    (void)hipMemcpyToSymbol(HIP_SYMBOL(settings), &of_the_host, sizeof of_the_host);
    unsigned long long* touched = nullptr;
    (void)hipGetSymbolAddress(reinterpret_cast<void**>(&touched), HIP_SYMBOL(counts::touched));
    run<<<(length + 255) / 256,
          256>>>(input,
                 output,
                 length,
                 of_the_host,
                 touched);
}
