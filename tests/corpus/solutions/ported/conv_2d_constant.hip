// problem: conv-2d
// verdict: CHECKED
// why: the kernel in constant memory, copied there from device memory
#include <hip/hip_runtime.h>

#define MAX_KERNEL 1024

__constant__ float c_kernel[MAX_KERNEL];

__global__ void conv2d_const(const float* __restrict__ A, float* __restrict__ C,
                             int H, int W, int Kh, int Kw) {
    int outCol = blockIdx.x * blockDim.x + threadIdx.x;
    int outRow = blockIdx.y * blockDim.y + threadIdx.y;
    if (outRow >= H || outCol >= W) return;

    int rh = Kh >> 1, rw = Kw >> 1;
    float acc = 0.0f;
    for (int fRow = 0; fRow < Kh; ++fRow) {
        int inRow = outRow - rh + fRow;
        if (inRow < 0 || inRow >= H) continue;
        for (int fCol = 0; fCol < Kw; ++fCol) {
            int inCol = outCol - rw + fCol;
            if (inCol >= 0 && inCol < W) acc += c_kernel[fRow * Kw + fCol] * A[inRow * W + inCol];
        }
    }
    C[outRow * W + outCol] = acc;
}

extern "C" void solution(const float* A, const float* B, float* C, size_t H, size_t W, size_t Kh, size_t Kw) {
    hipMemcpyToSymbol(HIP_SYMBOL(c_kernel), B, Kh * Kw * sizeof(float), 0, hipMemcpyDeviceToDevice);
    dim3 block(16, 16);
    dim3 grid((W + 15) / 16, (H + 15) / 16);
    conv2d_const<<<grid, block>>>(A, C, (int)H, (int)W, (int)Kh, (int)Kw);
    hipDeviceSynchronize();
}
