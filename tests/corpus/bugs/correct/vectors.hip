// problem: copy
// why: float4 where it fits, single elements for the tail
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    const size_t first = 4 * (blockIdx.x * size_t(blockDim.x) + threadIdx.x);
    if (first + 4 <= n) {
        *reinterpret_cast<float4*>(output + first) = *reinterpret_cast<const float4*>(input + first);
    } else {
        for (size_t i = first; i < n; ++i) output[i] = input[i];
    }
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n / 4 + 256) / 256, 256>>>(input, output, n);
}
