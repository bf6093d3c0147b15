// problem: sums
// finds: data-race
// why: the tree has no barrier between its steps
#include <hip/hip_runtime.h>

template <int THREADS>
__global__ void run(const float* input, float* output, size_t n) {
    __shared__ float sums[THREADS];
    const size_t i = blockIdx.x * THREADS + threadIdx.x;
    sums[threadIdx.x] = i < n ? input[i] : 0.0f;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];  // <-- here
    }
    __syncthreads();
    if (threadIdx.x == 0) output[blockIdx.x] = sums[0];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<256><<<(n + 255) / 256, 256>>>(input, output, n);
}
