// problem: copy
// finds: misaligned-access
// why: a float4 load from an odd element
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    output[i] = input[i];
    if (i == 0 && n > 8) {
        const float4 four = *reinterpret_cast<const float4*>(input + 1);  // <-- here
        if (four.x == 12345.0f) output[0] = 0.0f;
    }
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
