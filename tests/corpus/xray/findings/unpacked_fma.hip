// Independent multiply-adds that the compiler does not pack: their results are clamped one by one, or they are
// written in assembly.
#include <hip/hip_runtime.h>

__global__ __launch_bounds__(256) void clamped(const float* x, float* y, int rounds) {
    const int first = (blockIdx.x * 256 + threadIdx.x) * 8;
    float values[8];
    for (int i = 0; i < 8; ++i) values[i] = x[first + i];
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < 8; ++i) {
            values[i] = __builtin_amdgcn_fmed3f(fmaf(values[i], values[i], -1.0f), -2.0f, 2.0f);  // finds unpacked-fma
        }
    }
    for (int i = 0; i < 8; ++i) y[first + i] = values[i];
}

__global__ __launch_bounds__(256) void in_assembly(const float4* x, float4* y, const float* terms, int n) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    const float4 at = x[i];
    float4 sums = {};
    for (int k = 0; k < n; ++k) {
        const float term = terms[k];
        asm("v_fma_f32 %0, %0, %1, %2" : "+v"(sums.x) : "v"(at.x), "v"(term));  // finds unpacked-fma
        asm("v_fma_f32 %0, %0, %1, %2" : "+v"(sums.y) : "v"(at.y), "v"(term));
        asm("v_fma_f32 %0, %0, %1, %2" : "+v"(sums.z) : "v"(at.z), "v"(term));
        asm("v_fma_f32 %0, %0, %1, %2" : "+v"(sums.w) : "v"(at.w), "v"(term));
    }
    y[i] = sums;
}
