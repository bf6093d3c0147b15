// problem: copy
// finds: barrier-after-exit
// why: threads of the second kernel that have no work return before the barrier
#include <hip/hip_runtime.h>

__global__ void first(const float* input, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) output[i] = input[i];
}

template <class T>
__global__ void second(T* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (threadIdx.x >= 100) return;
    const T value = i < n ? output[i] : T(0);
    __syncthreads();  // <-- here
    if (i < n) output[i] = value;
}

extern "C" void solution(const float* input, float* output, size_t n) {
    first<<<(n + 255) / 256, 256>>>(input, output, n);
    second<<<(n + 255) / 256, 256>>>(output, n);
}
