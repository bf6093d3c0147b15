// problem: vector-addition
// dtype: float16
// verdict: CHECKED
// why: pairs added with __hadd2, an odd last element by a single thread with __hadd
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

__global__ void vecAddHalf2(const __half2* __restrict__ a, const __half2* __restrict__ b,
                            __half2* __restrict__ c, int n2) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n2) {
        c[i] = __hadd2(a[i], b[i]);
    }
}

__global__ void addLast(const __half* a, const __half* b, __half* c, int i) {
    c[i] = __hadd(a[i], b[i]);
}

extern "C" void solution(const __half* d_input1, const __half* d_input2, __half* d_output, size_t n) {
    int n2 = n / 2;
    if (n2 > 0) {
        vecAddHalf2<<<(n2 + 255) / 256, 256>>>((const __half2*)d_input1, (const __half2*)d_input2,
                                               (__half2*)d_output, n2);
    }
    if (n & 1) {
        addLast<<<1, 1>>>(d_input1, d_input2, d_output, n - 1);
    }
    hipDeviceSynchronize();
}
