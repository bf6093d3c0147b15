// Sum over any dimension of outer x length x inner. For the last dimension (inner = 1), a block computes
// each sum, and its wavefronts reduce with shuffles. For other dimensions a thread computes each sum, and
// adjacent threads read adjacent addresses.
#include <hip/hip_runtime.h>

constexpr int LANES = 64;
constexpr int THREADS = 256;

// Returns the sum over the lanes of a wavefront; valid in lane 0.
__device__ float wave_sum(float value) {
    for (int distance = LANES / 2; distance > 0; distance /= 2) {
        value += __shfl_down(value, distance);
    }
    return value;
}

__global__ void sum_rows(const float* input, float* output, size_t length) {
    __shared__ float wave_sums[THREADS / LANES];
    const float* row = input + blockIdx.x * length;

    float sum = 0.0f;
    for (size_t i = threadIdx.x; i < length; i += THREADS) {
        sum += row[i];
    }
    sum = wave_sum(sum);
    if (threadIdx.x % LANES == 0) {
        wave_sums[threadIdx.x / LANES] = sum;
    }
    __syncthreads();

    if (threadIdx.x < LANES) {  // the first wavefront adds up the sums of all wavefronts
        sum = wave_sum(threadIdx.x < THREADS / LANES ? wave_sums[threadIdx.x] : 0.0f);
        if (threadIdx.x == 0) {
            output[blockIdx.x] = sum;
        }
    }
}

__global__ void sum_columns(const float* input, float* output, size_t outer, size_t length, size_t inner) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= outer * inner) {
        return;
    }
    const float* column = input + i / inner * length * inner + i % inner;
    float sum = 0.0f;
    for (size_t j = 0; j < length; ++j) {
        sum += column[j * inner];
    }
    output[i] = sum;
}

extern "C" void solution(const float* input, int dim, float* output, const size_t* shape, size_t ndim) {
    size_t outer = 1, inner = 1;
    for (int i = 0; i < dim; ++i) {
        outer *= shape[i];
    }
    for (size_t i = dim + 1; i < ndim; ++i) {
        inner *= shape[i];
    }
    if (inner == 1) {
        sum_rows<<<outer, THREADS>>>(input, output, shape[dim]);
    } else {
        const size_t blocks = (outer * inner + THREADS - 1) / THREADS;
        sum_columns<<<blocks, THREADS>>>(input, output, outer, shape[dim], inner);
    }
}
