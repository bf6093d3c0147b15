// problem: copy
// finds: inactive-lane
// why: the upper half of the wave has returned before the shuffle
#include <hip/hip_runtime.h>

template <int HALF>
__global__ void run(const float* input, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    const float value = i < n ? input[i] : 0.0f;
    if (i < n) output[i] = value;
    if (threadIdx.x % 64 >= HALF) return;
    const float other = __shfl_xor(value, HALF);  // <-- here
    if (i < n) output[i] = other;
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<32><<<(n + 255) / 256, 256>>>(input, output, n);
}
