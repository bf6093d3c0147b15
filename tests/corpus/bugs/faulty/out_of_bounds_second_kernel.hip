// problem: copy
// finds: out-of-bounds
// why: the scratch buffer has n elements, and the second kernel writes n + 1
#include <hip/hip_runtime.h>

__global__ void first(const float* input, float* scratch, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) scratch[i] = input[i];
}

__global__ void second(float* scratch, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) output[i] = scratch[i];
    if (i == n) scratch[i] = 0.0f;  // <-- here
}

extern "C" void solution(const float* input, float* output, size_t n) {
    float* scratch;
    hipMalloc(&scratch, n * sizeof(float));
    first<<<n / 256 + 1, 256>>>(input, scratch, n);
    second<<<n / 256 + 1, 256>>>(scratch, output, n);
    hipFree(scratch);
}
