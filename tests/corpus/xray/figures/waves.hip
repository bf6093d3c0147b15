// Operations between the lanes of a wave, and cooperative groups.
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_runtime.h>

namespace groups = cooperative_groups;

__global__ void wave_sum(const float* x, float* sums) {
    float sum = x[blockIdx.x * blockDim.x + threadIdx.x];
    for (int distance = 32; distance > 0; distance /= 2) {
        sum += __shfl_down(sum, distance);
    }
    if (threadIdx.x % 64 == 0) {
        atomicAdd(sums, sum);
    }
}

__global__ void compact(const int* x, int* kept, int* count, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool keep = i < n && x[i] > 0;
    const unsigned long long votes = __ballot(keep);
    const int before = __popcll(votes & ((1ull << __lane_id()) - 1));
    int start = 0;
    if (__lane_id() == 0) {
        start = atomicAdd(count, __popcll(votes));
    }
    start = __shfl(start, 0);
    if (keep) {
        kept[start + before] = x[i];
    }
}

__global__ void tile_sums(const float* x, float* sums) {
    const auto tile = groups::tiled_partition<16>(groups::this_thread_block());
    float sum = x[blockIdx.x * blockDim.x + threadIdx.x];
    for (int distance = 8; distance > 0; distance /= 2) sum += tile.shfl_xor(sum, distance);
    if (tile.thread_rank() == 0) {
        sums[blockIdx.x * (blockDim.x / 16) + tile.meta_group_rank()] = sum;
    }
}

__global__ void grid_wide(float* x) {
    x[groups::this_grid().thread_rank()] += 1.0f;
    groups::this_grid().sync();
    x[groups::this_grid().thread_rank()] *= x[0];
}

__global__ void counted(const int* x, int* result) {
    const int positive = __syncthreads_count(x[threadIdx.x] > 0);
    if (threadIdx.x == 0) {
        *result = positive;
    }
}

__global__ void histogram(const unsigned char* pixels, unsigned* bins, int n) {
    __shared__ unsigned counts[256];
    counts[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&counts[pixels[i]], 1u);
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}
