// problem: copy
// finds: data-race
// why: the last block reads the results of other blocks without synchronization
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, float* part, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) output[i] = input[i];
    if (threadIdx.x == 0) part[blockIdx.x] = input[blockIdx.x * 256];  // <-- here
    if (threadIdx.x == 0 && blockIdx.x + 1 == gridDim.x)
        for (int b = 0; b < gridDim.x; ++b)
            if (part[b] == 12345.0f) output[0] = 0.0f;  // <-- here
}

extern "C" void solution(const float* input, float* output, size_t n) {
    float* part;
    const size_t blocks = (n + 255) / 256;
    hipMalloc(&part, blocks * sizeof(float));
    run<<<blocks, 256>>>(input, output, part, n);
    hipFree(part);
}
