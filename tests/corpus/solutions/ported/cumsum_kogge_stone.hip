// problem: cumsum
// verdict: CHECKED
// why: Kogge-Stone in dynamic shared memory, block sums scanned by calling itself, hipMalloc in the solution
#include <hip/hip_runtime.h>

#define SECTION_SIZE 1024

__global__ void Kogge_Stone_scan_kernel(const float* X, float* Y, float* S, unsigned int N) {
    extern __shared__ float XY[];
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    XY[threadIdx.x] = (i < N) ? X[i] : 0.0f;
    for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
        __syncthreads();
        float temp;
        if (threadIdx.x >= stride) temp = XY[threadIdx.x] + XY[threadIdx.x - stride];
        __syncthreads();
        if (threadIdx.x >= stride) XY[threadIdx.x] = temp;
    }
    if (i < N) Y[i] = XY[threadIdx.x];
    __syncthreads();
    if (S != NULL && threadIdx.x == blockDim.x - 1) S[blockIdx.x] = XY[SECTION_SIZE - 1];
}

__global__ void add_block_sums(float* Y, const float* S, unsigned int N) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N && blockIdx.x > 0) Y[i] += S[blockIdx.x - 1];
}

static void scan(const float* d_in, float* d_out, unsigned int n) {
    unsigned int num_blocks = (n + SECTION_SIZE - 1) / SECTION_SIZE;
    size_t smem = SECTION_SIZE * sizeof(float);
    float* d_sums = NULL;
    if (num_blocks > 1) hipMalloc((void**)&d_sums, num_blocks * sizeof(float));
    Kogge_Stone_scan_kernel<<<num_blocks, SECTION_SIZE, smem>>>(d_in, d_out, d_sums, n);
    if (num_blocks > 1) {
        scan(d_sums, d_sums, num_blocks);
        add_block_sums<<<num_blocks, SECTION_SIZE>>>(d_out, d_sums, n);
        hipFree(d_sums);
    }
}

extern "C" void solution(const float* input, float* output, size_t N) {
    scan(input, output, (unsigned int)N);
    hipDeviceSynchronize();
}
