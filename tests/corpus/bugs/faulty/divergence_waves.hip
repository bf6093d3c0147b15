// problem: copy
// finds: barrier-divergence
// why: the first wave has a separate barrier
#include <hip/hip_runtime.h>

template <int LANES>
__global__ void run(const float* input, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (threadIdx.x < LANES) {
        __syncthreads();  // <-- here
    } else {
        __syncthreads();  // <-- here
    }
    if (i < n) output[i] = input[i];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<64><<<(n + 255) / 256, 256>>>(input, output, n);
}
