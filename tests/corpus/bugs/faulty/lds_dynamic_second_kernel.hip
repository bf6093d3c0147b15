// problem: copy
// finds: lds-out-of-bounds
// why: only the last block of the second kernel exceeds the array
#include <hip/hip_runtime.h>

__global__ void first(const float* input, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) output[i] = input[i];
}

__global__ void second(float* output, size_t n) {
    extern __shared__ int seen[];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    seen[threadIdx.x] = 1;
    __syncthreads();
    const int at = blockIdx.x + 1 == gridDim.x ? threadIdx.x + 1 : threadIdx.x;
    if (seen[at] == 12345 && i < n) output[i] = 0.0f;  // <-- here
}

extern "C" void solution(const float* input, float* output, size_t n) {
    first<<<(n + 255) / 256, 256>>>(input, output, n);
    second<<<(n + 255) / 256, 256, 256 * sizeof(int)>>>(output, n);
}
