// problem: relu
// verdict: CHECKED
// why: vectorized by reinterpret_cast, block size as a template parameter, launched on its own stream
#include <hip/hip_runtime.h>

template <int BLOCK_SIZE>
__global__ void __launch_bounds__(BLOCK_SIZE)
relu_kernel(const float* __restrict__ in, float* __restrict__ out, size_t total) {
    size_t idx = (size_t)(blockIdx.x * BLOCK_SIZE + threadIdx.x) * 4;
    if (idx + 3 < total) {
        float4 v = reinterpret_cast<const float4*>(&in[idx])[0];
        v.x = max(v.x, 0.0f);
        v.y = max(v.y, 0.0f);
        v.z = max(v.z, 0.0f);
        v.w = max(v.w, 0.0f);
        reinterpret_cast<float4*>(&out[idx])[0] = v;
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            if (idx + i < total) out[idx + i] = in[idx + i] > 0 ? in[idx + i] : 0;
        }
    }
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
    constexpr int BLOCK = 512;
    size_t total = n * m;
    size_t grid = (total / 4 + BLOCK) / BLOCK;
    hipStream_t stream;
    hipStreamCreate(&stream);
    relu_kernel<BLOCK><<<grid, BLOCK, 0, stream>>>(input, output, total);
    hipStreamSynchronize(stream);
    hipStreamDestroy(stream);
}
