// problem: copy
// finds: lds-out-of-bounds
// why: SIZE is the number of waves, and the block has one more
#include <hip/hip_runtime.h>

template <int SIZE>
__global__ void run(const float* input, float* output, size_t n) {
    __shared__ float first_of[SIZE];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    const int wave = threadIdx.x / 64;
    if (threadIdx.x % 64 == 0) first_of[wave] = i < n ? input[i] : 0.0f;  // <-- here
    __syncthreads();
    const float value = threadIdx.x % 64 == 0 && wave < SIZE ? first_of[wave] : i < n ? input[i] : 0.0f;
    if (i < n) output[i] = value;
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<3><<<(n + 255) / 256, 256>>>(input, output, n);
}
