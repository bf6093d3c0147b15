// Each thread has its own row in shared memory, 64 floats long.
#include <hip/hip_runtime.h>

constexpr int ROW = 64;
constexpr int THREADS = 128;

__device__ float total(const float* row) {
    float sum = 0.0f;
    for (int i = 0; i < ROW; ++i) {
        sum += row[i];  // finds bank-conflict
    }
    return sum;
}

__global__ void rows(const float* in, float* out) {
    __shared__ float held[THREADS * ROW];
    for (int i = 0; i < ROW; ++i) {
        held[i * THREADS + threadIdx.x] = in[i * THREADS + threadIdx.x];
    }
    __syncthreads();
    out[threadIdx.x] = total(held + threadIdx.x * ROW);
}

extern "C" void solution(const float* in, float* out) { rows<<<1, THREADS>>>(in, out); }
