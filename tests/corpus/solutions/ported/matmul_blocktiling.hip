// problem: matrix-multiplication
// verdict: CHECKED
// why: block tiling with template parameters, register tiles and `uint`, as in articles on fast SGEMM
#include <cassert>
#include <hip/hip_runtime.h>

#define CEIL_DIV(M, N) (((M) + (N) - 1) / (N))

template <const int BM, const int BN, const int BK, const int TM, const int TN>
__global__ void __launch_bounds__((BM * BN) / (TM * TN), 1)
sgemm2DBlocktiling(int M, int N, int K, const float* A, const float* B, float* C) {
    const uint cRow = blockIdx.y;
    const uint cCol = blockIdx.x;
    constexpr uint numThreads = (BM * BN) / (TM * TN);
    assert(numThreads == blockDim.x);

    const int threadCol = threadIdx.x % (BN / TN);
    const int threadRow = threadIdx.x / (BN / TN);

    __shared__ float As[BM * BK];
    __shared__ float Bs[BK * BN];
    float threadResults[TM * TN] = {0.0};
    float regM[TM] = {0.0};
    float regN[TN] = {0.0};

    for (uint bkIdx = 0; bkIdx < K; bkIdx += BK) {
        for (uint i = threadIdx.x; i < BM * BK; i += numThreads) {
            uint r = cRow * BM + i / BK, c = bkIdx + i % BK;
            As[i] = (r < M && c < K) ? A[r * K + c] : 0.0f;
        }
        for (uint i = threadIdx.x; i < BK * BN; i += numThreads) {
            uint r = bkIdx + i / BN, c = cCol * BN + i % BN;
            Bs[i] = (r < K && c < N) ? B[r * N + c] : 0.0f;
        }
        __syncthreads();

        for (uint dotIdx = 0; dotIdx < BK; ++dotIdx) {
            for (uint i = 0; i < TM; ++i) regM[i] = As[(threadRow * TM + i) * BK + dotIdx];
            for (uint i = 0; i < TN; ++i) regN[i] = Bs[dotIdx * BN + threadCol * TN + i];
            for (uint resIdxM = 0; resIdxM < TM; ++resIdxM) {
                for (uint resIdxN = 0; resIdxN < TN; ++resIdxN) {
                    threadResults[resIdxM * TN + resIdxN] += regM[resIdxM] * regN[resIdxN];
                }
            }
        }
        __syncthreads();
    }

    for (uint i = 0; i < TM; ++i) {
        for (uint j = 0; j < TN; ++j) {
            uint r = cRow * BM + threadRow * TM + i, c = cCol * BN + threadCol * TN + j;
            if (r < M && c < N) C[r * N + c] = threadResults[i * TN + j];
        }
    }
}

extern "C" void solution(const float* input_a, const float* input_b, float* output_c,
                         size_t m, size_t n, size_t k) {
    const uint BK = 8, TM = 8, TN = 8, BM = 64, BN = 64;
    dim3 gridDim(CEIL_DIV(n, BN), CEIL_DIV(m, BM));
    dim3 blockDim((BM * BN) / (TM * TN));
    sgemm2DBlocktiling<BM, BN, BK, TM, TN>
        <<<gridDim, blockDim>>>(m, n, k, input_a, input_b, output_c);
}
