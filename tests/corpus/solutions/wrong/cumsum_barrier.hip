// problem: cumsum
// verdict: WRONG_ANSWER
// why: no barrier between reading and writing, so a thread adds to a value that another thread changed
#include <hip/hip_runtime.h>

// One block processes the whole array, 256 elements at a time.
__global__ void scan(const float* input, float* output, size_t n) {
    __shared__ float sums[256];
    __shared__ float carry;
    if (threadIdx.x == 0) carry = 0.0f;
    __syncthreads();
    for (size_t begin = 0; begin < n; begin += 256) {
        const size_t i = begin + threadIdx.x;
        sums[threadIdx.x] = i < n ? input[i] : 0.0f;
        __syncthreads();
        for (unsigned distance = 1; distance < 256; distance *= 2) {
            const float before = threadIdx.x >= distance ? sums[threadIdx.x - distance] : 0.0f;
            sums[threadIdx.x] += before;
            __syncthreads();
        }
        if (i < n) output[i] = carry + sums[threadIdx.x];
        __syncthreads();
        if (threadIdx.x == 255) carry += sums[255];
        __syncthreads();
    }
}

extern "C" void solution(const float* input, float* output, size_t N) {
    scan<<<1, 256>>>(input, output, N);
}
