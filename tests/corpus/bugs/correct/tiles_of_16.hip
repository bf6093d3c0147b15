// problem: sums
// why: cooperative groups of 16 lanes reduce independently
#include <hip/hip_runtime.h>

#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ float sums[16];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    float value = i < n ? input[i] : 0.0f;
    for (int distance = 8; distance > 0; distance /= 2) value += tile.shfl_down(value, distance);
    if (tile.thread_rank() == 0) sums[threadIdx.x / 16] = value;
    cg::this_thread_block().sync();
    if (threadIdx.x == 0) {
        float sum = 0.0f;
        for (int k = 0; k < 16; ++k) sum += sums[k];
        output[blockIdx.x] = sum;
    }
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
