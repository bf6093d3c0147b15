// problem: cumsum
// verdict: CHECKED
// why: one pass over the data: blocks take tickets, publish sums with fences, and look back at earlier blocks
#include <hip/hip_runtime.h>

#define BLOCK 256

__device__ unsigned int ticket;

__global__ void scanOnce(const float* __restrict__ in, float* __restrict__ out, volatile float* sums,
                         volatile float* prefixes, volatile int* states, size_t n) {
    __shared__ unsigned int tile;
    __shared__ float before;
    __shared__ __align__(16) float values[BLOCK];
    if (threadIdx.x == 0) tile = atomicAdd(&ticket, 1u);
    __syncthreads();
    const size_t i = (size_t)tile * BLOCK + threadIdx.x;
    values[threadIdx.x] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int offset = 1; offset < BLOCK; offset <<= 1) {
        const float other = threadIdx.x >= offset ? values[threadIdx.x - offset] : 0.0f;
        __syncthreads();
        values[threadIdx.x] += other;
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        const float sum = values[BLOCK - 1];
        sums[tile] = sum;
        __threadfence();
        states[tile] = 1;
        float prefix = 0.0f;
        for (int t = (int)tile - 1; t >= 0; --t) {
            int state;
            while ((state = states[t]) == 0) {}
            __threadfence();
            prefix += state == 2 ? prefixes[t] : sums[t];
            if (state == 2) break;
        }
        prefixes[tile] = prefix + sum;
        __threadfence();
        states[tile] = 2;
        before = prefix;
    }
    __syncthreads();
    if (i < n) out[i] = values[threadIdx.x] + before;
}

extern "C" void solution(const float* input, float* output, size_t N) {
    const int tiles = (N + BLOCK - 1) / BLOCK;
    char* scratch = nullptr;
    hipMallocAsync((void**)&scratch, tiles * 12, 0);
    hipMemsetAsync(scratch, 0, tiles * 12, 0);
    const unsigned int zero = 0;
    hipMemcpyToSymbol(ticket, &zero, sizeof(zero));
    float* sums = reinterpret_cast<float*>(scratch);
    scanOnce<<<tiles, BLOCK>>>(input, output, sums, sums + tiles, (int*)(sums + 2 * tiles), N);
    hipFreeAsync(scratch, 0);
}
