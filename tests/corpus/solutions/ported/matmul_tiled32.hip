// problem: matrix-multiplication
// verdict: CHECKED
// why: the textbook tile of 32 x 32 with 1024 threads and one dynamic shared array for both inputs
#include <hip/hip_runtime.h>

#define TILE_WIDTH 32

__global__ void MatMulTiled(const float* M, const float* N, float* P, int m, int n, int k) {
    extern __shared__ float smem[];
    float* Mds = smem;
    float* Nds = smem + TILE_WIDTH * TILE_WIDTH;

    int bx = blockIdx.x, by = blockIdx.y;
    int tx = threadIdx.x, ty = threadIdx.y;
    int Row = by * TILE_WIDTH + ty;
    int Col = bx * TILE_WIDTH + tx;

    float Pvalue = 0;
    for (int ph = 0; ph < (k + TILE_WIDTH - 1) / TILE_WIDTH; ++ph) {
        Mds[ty * TILE_WIDTH + tx] =
            (Row < m && ph * TILE_WIDTH + tx < k) ? M[Row * k + ph * TILE_WIDTH + tx] : 0.0f;
        Nds[ty * TILE_WIDTH + tx] =
            (Col < n && ph * TILE_WIDTH + ty < k) ? N[(ph * TILE_WIDTH + ty) * n + Col] : 0.0f;
        __syncthreads();

        for (int i = 0; i < TILE_WIDTH; ++i) {
            Pvalue += Mds[ty * TILE_WIDTH + i] * Nds[i * TILE_WIDTH + tx];
        }
        __syncthreads();
    }
    if (Row < m && Col < n) {
        P[Row * n + Col] = Pvalue;
    }
}

extern "C" void solution(const float* input_a, const float* input_b, float* output_c,
                         size_t m, size_t n, size_t k) {
    dim3 dimBlock(TILE_WIDTH, TILE_WIDTH, 1);
    dim3 dimGrid(ceil(n / float(TILE_WIDTH)), ceil(m / float(TILE_WIDTH)), 1);
    size_t smem_size = 2 * TILE_WIDTH * TILE_WIDTH * sizeof(float);
    MatMulTiled<<<dimGrid, dimBlock, smem_size>>>(input_a, input_b, output_c, m, n, k);
    hipDeviceSynchronize();
}
