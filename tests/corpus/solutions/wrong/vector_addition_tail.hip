// problem: vector-addition
// verdict: WRONG_ANSWER
// why: four elements per thread, and no thread adds the last n % 4
#include <hip/hip_runtime.h>

__global__ void add(const float4* a, const float4* b, float4* c, size_t quads) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < quads) {
        c[i] = make_float4(a[i].x + b[i].x, a[i].y + b[i].y, a[i].z + b[i].z, a[i].w + b[i].w);
    }
}

extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {
    const size_t quads = n / 4;
    add<<<quads / 256 + 1, 256>>>(reinterpret_cast<const float4*>(d_input1),
                                  reinterpret_cast<const float4*>(d_input2),
                                  reinterpret_cast<float4*>(d_output), quads);
}
