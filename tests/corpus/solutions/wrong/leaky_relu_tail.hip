// problem: leaky-relu
// verdict: WRONG_ANSWER
// why: off by one in the tail: the last of the elements that do not fill a float4 is skipped
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
        for (size_t i = begin; i + 1 < count || (i < count && i == 0); ++i) {
            output[i] = leak(input[i], alpha);
        }
    }
}

extern "C" void solution(const float* input, float alpha, float* output, size_t n, size_t m) {
    leaky_relu<<<(n * m + 1023) / 1024, 256>>>(input, alpha, output, n * m);
}
