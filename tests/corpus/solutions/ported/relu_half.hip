// problem: relu
// dtype: float16
// verdict: CHECKED
// why: half intrinsics, a 2D grid over rows and columns
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

__global__ void relu2d(const __half* input, __half* output, int width, int height) {
    int x = threadIdx.x + blockIdx.x * blockDim.x;
    int y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x >= width || y >= height) return;
    const __half zero = __float2half(0.f);
    __half v = input[y * width + x];
    output[y * width + x] = __hgt(v, zero) ? v : zero;
}

extern "C" void solution(const __half* input, __half* output, size_t n, size_t m) {
    dim3 block(32, 8);
    dim3 grid((n + block.x - 1) / block.x, (m + block.y - 1) / block.y);
    relu2d<<<grid, block>>>(input, output, n, m);
    hipDeviceSynchronize();
}
