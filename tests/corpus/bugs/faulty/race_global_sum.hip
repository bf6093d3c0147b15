// problem: copy
// finds: data-race
// why: a sum without atomics, in the second kernel
#include <hip/hip_runtime.h>

template <class T>
__global__ void copy(const T* input, T* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) output[i] = input[i];
}

template <class T>
__global__ void total(const T* input, T* sum, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) sum[0] += input[i];  // <-- here
}

extern "C" void solution(const float* input, float* output, size_t n) {
    float* sum;
    hipMalloc(&sum, sizeof(float));
    hipMemset(sum, 0, sizeof(float));
    copy<<<(n + 255) / 256, 256>>>(input, output, n);
    total<<<(n + 255) / 256, 256>>>(input, sum, n);
    hipFree(sum);
}
