// problem: sums
// finds: uninitialised-lds
// why: threads beyond n do not write their element, but the sum includes it
#include <hip/hip_runtime.h>

template <class T>
__global__ void run(const T* input, T* output, size_t n) {
    __shared__ T tile[256];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) tile[threadIdx.x] = input[i];
    __syncthreads();
    if (threadIdx.x != 0) return;
    T sum = 0;
    for (int k = 0; k < 256; ++k) sum += tile[k];  // <-- here
    output[blockIdx.x] = sum;
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
