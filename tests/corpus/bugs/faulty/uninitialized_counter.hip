// problem: copy
// finds: uninitialised-lds
// why: the counter is never set to zero
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ unsigned count;
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) atomicAdd(&count, 1u);  // <-- here
    __syncthreads();
    if (i < n && count > 0) output[i] = input[i];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
