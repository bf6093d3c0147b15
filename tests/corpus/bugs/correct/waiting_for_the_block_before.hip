// problem: copy
// why: each block passes a value to the next one through a volatile flag
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, volatile float* carry, volatile int* ready, size_t n) {
    __shared__ float before;
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (threadIdx.x == 0) {
        before = 0.0f;
        if (blockIdx.x > 0) {
            while (ready[blockIdx.x - 1] == 0) {
            }
            __threadfence();
            before = carry[blockIdx.x - 1];
        }
        carry[blockIdx.x] = before + 1.0f;
        __threadfence();
        ready[blockIdx.x] = 1;
    }
    __syncthreads();
    if (i < n && before == float(blockIdx.x)) output[i] = input[i];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    const size_t blocks = (n + 255) / 256;
    float* carry;
    int* ready;
    hipMalloc(&carry, blocks * sizeof(float));
    hipMalloc(&ready, blocks * sizeof(int));
    hipMemset(ready, 0, blocks * sizeof(int));
    run<<<blocks, 256>>>(input, output, carry, ready, n);
    hipFree(carry);
    hipFree(ready);
}
