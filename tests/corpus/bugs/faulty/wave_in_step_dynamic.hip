// problem: copy
// finds: wave-synchronous
// why: a scan per wave in dynamic shared memory, in a template, without a barrier
#include <hip/hip_runtime.h>

template <int LANES>
__global__ void run(const float* input, float* output, size_t n) {
    extern __shared__ float tile[];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    const int lane = threadIdx.x % LANES;
    tile[threadIdx.x] = i < n ? input[i] : 0.0f;
    __syncthreads();
    if (lane >= 1) tile[threadIdx.x] = tile[threadIdx.x - 1];  // <-- here
    if (i < n) output[i] = input[i];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<64><<<(n + 255) / 256, 256, 256 * sizeof(float)>>>(input, output, n);
}
