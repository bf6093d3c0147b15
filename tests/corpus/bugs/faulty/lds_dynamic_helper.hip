// problem: copy
// finds: lds-out-of-bounds
// why: the size of the dynamic memory does not include the second of two arrays
#include <hip/hip_runtime.h>

__device__ void store(float* array, int at, float value) {
    array[at] = value;  // <-- here
}

__global__ void run(const float* input, float* output, size_t n) {
    extern __shared__ float tile[];
    float* second = tile + 256;
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    store(tile, threadIdx.x, i < n ? input[i] : 0.0f);
    if (threadIdx.x == 3) store(second, 3, 1.0f);
    __syncthreads();
    if (i < n) output[i] = tile[threadIdx.x];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256, 256 * sizeof(float)>>>(input, output, n);
}
