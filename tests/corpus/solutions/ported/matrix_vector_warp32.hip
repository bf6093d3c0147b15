// problem: matrix-vector
// verdict: CHECKED
// why: warps of 32, which must work although the wavefront has 64 lanes
#include <hip/hip_runtime.h>

#define WARP_SIZE 32
#define FULL_MASK 0xffffffffffffffffull

__global__ void matvec_warp_per_row(const float* __restrict__ A, const float* __restrict__ x,
                                    float* __restrict__ y, int M, int K) {
    int warp_id = (blockIdx.x * blockDim.x + threadIdx.x) / WARP_SIZE;
    int lane = threadIdx.x % WARP_SIZE;
    float sum = 0.0f;
    if (warp_id < M) {
        for (int col = lane; col < K; col += WARP_SIZE) {
            sum = fmaf(A[(size_t)warp_id * K + col], x[col], sum);
        }
    }
    for (int offset = WARP_SIZE / 2; offset > 0; offset >>= 1) {
        sum += __shfl_down_sync(FULL_MASK, sum, offset);
    }
    if (lane == 0 && warp_id < M) {
        y[warp_id] = sum;
    }
}

extern "C" void solution(const float* input_a, const float* input_b, float* output_c, size_t m, size_t k) {
    const int threads = 256;
    const int warps_per_block = threads / WARP_SIZE;
    const int blocks = (m + warps_per_block - 1) / warps_per_block;
    matvec_warp_per_row<<<blocks, threads>>>(input_a, input_b, output_c, m, k);
    hipDeviceSynchronize();
}
