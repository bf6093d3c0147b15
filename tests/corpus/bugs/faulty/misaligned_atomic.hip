// problem: copy
// finds: misaligned-access
// why: an atomic of 8 bytes at an address that is only a multiple of 4
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ alignas(16) unsigned counters[8];
    if (threadIdx.x < 8) counters[threadIdx.x] = 0;
    __syncthreads();
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    atomicAdd(reinterpret_cast<unsigned long long*>(&counters[1]), 1ull);  // <-- here
    output[i] = input[i];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
