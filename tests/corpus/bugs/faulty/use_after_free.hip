// problem: copy
// finds: use-after-free
// why: the buffer is freed before the kernel that reads it
#include <hip/hip_runtime.h>

__global__ void copy(const float* input, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) output[i] = input[i];  // <-- here
}

extern "C" void solution(const float* input, float* output, size_t n) {
    float* scratch;
    hipMalloc(&scratch, n * sizeof(float));
    hipMemcpy(scratch, input, n * sizeof(float), hipMemcpyDeviceToDevice);
    hipFree(scratch);
    copy<<<(n + 255) / 256, 256>>>(scratch, output, n);
}
