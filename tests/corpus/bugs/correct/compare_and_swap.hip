// problem: sums
// why: an addition by compare-and-swap, which begins with a plain read
#include <hip/hip_runtime.h>

__device__ void add(float* sum, float value) {
    auto* bits = reinterpret_cast<unsigned*>(sum);
    unsigned old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __float_as_uint(__uint_as_float(assumed) + value));
    } while (old != assumed);
}

__global__ void clear(float* output) {
    if (threadIdx.x == 0) output[blockIdx.x] = 0.0f;
}

__global__ void run(const float* input, float* output, size_t n) {
    const size_t i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) add(&output[i / 256], input[i]);
}

extern "C" void solution(const float* input, float* output, size_t n) {
    clear<<<(n + 255) / 256, 64>>>(output);
    run<<<(n + 63) / 64, 64>>>(input, output, n);
}
