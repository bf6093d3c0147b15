// problem: copy
// finds: wave-of-32
// why: a ballot of 64 lanes stored in 32 bits
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    const unsigned mask = __ballot(i < n);  // <-- here
    if (i < n && mask != 0) output[i] = input[i];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
