// problem: copy
// finds: use-after-free
// why: the second kernel writes to a freed buffer, through a helper
#include <hip/hip_runtime.h>

__device__ void note(float* log, size_t at, float value) {
    log[at] = value;  // <-- here
}

__global__ void first(float* log, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) log[i] = 0.0f;
}

__global__ void second(const float* input, float* output, float* log, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) {
        output[i] = input[i];
        note(log, i, input[i]);
    }
}

extern "C" void solution(const float* input, float* output, size_t n) {
    float* log;
    hipMalloc(&log, n * sizeof(float));
    first<<<(n + 255) / 256, 256>>>(log, n);
    hipFree(log);
    second<<<(n + 255) / 256, 256>>>(input, output, log, n);
}
