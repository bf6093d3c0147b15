// problem: copy
// why: the kernel is chosen on the host, by a pointer in a local variable
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) output[i] = input[i];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    auto kernel = &run;
    kernel<<<(n + 255) / 256,
             256>>>(input,
                    output, n);
}
