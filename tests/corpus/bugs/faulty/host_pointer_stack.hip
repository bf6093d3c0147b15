// problem: copy
// finds: host-pointer
// why: the address of a local host variable is passed to the kernel
#include <hip/hip_runtime.h>

__global__ void first(const float* input, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) output[i] = input[i];
}

__global__ void second(int* count) {
    atomicAdd(count, 1);  // <-- here
}

extern "C" void solution(const float* input, float* output, size_t n) {
    int count = 0;
    first<<<(n + 255) / 256, 256>>>(input, output, n);
    second<<<1, 1>>>(&count);
}
