// problem: copy
// finds: misaligned-access
// why: rows of n elements begin at addresses that are not aligned for float2
#include <hip/hip_runtime.h>

template <class Vector>
__device__ Vector load(const float* from) {
    return *reinterpret_cast<const Vector*>(from);  // <-- here
}

__global__ void run(const float* input, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    output[i] = input[i];
    if (i + 3 < n && i % 3 == 0) {
        const float2 two = load<float2>(input + i);
        output[i] = two.x;
    }
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
