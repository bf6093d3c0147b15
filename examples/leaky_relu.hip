// Leaky ReLU. Each thread processes four adjacent elements with one 16-byte load and one 16-byte store.
// The thread whose four elements extend past the end processes the remaining ones one by one.
#include <hip/hip_runtime.h>

__device__ float leak(float x, float alpha) {
    return x > 0.0f ? x : alpha * x;
}

__global__ void leaky_relu(const float* input, float alpha, float* output, size_t count) {
    const size_t begin = 4 * (size_t(blockIdx.x) * blockDim.x + threadIdx.x);
    if (begin + 4 <= count) {
        const float4 x = *reinterpret_cast<const float4*>(input + begin);
        *reinterpret_cast<float4*>(output + begin) =
            make_float4(leak(x.x, alpha), leak(x.y, alpha), leak(x.z, alpha), leak(x.w, alpha));
    } else {
        for (size_t i = begin; i < count; ++i) {
            output[i] = leak(input[i], alpha);
        }
    }
}

extern "C" void solution(const float* input, float alpha, float* output, size_t n, size_t m) {
    const size_t count = n * m;
    const size_t elements_per_block = 4 * 256;
    leaky_relu<<<(count + elements_per_block - 1) / elements_per_block, 256>>>(input, alpha, output, count);
}
