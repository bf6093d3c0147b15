// problem: sum-dim
// verdict: CHECKED
// why: cooperative groups: tiles of 32 within a block, shuffles on the tile
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_runtime.h>

namespace cg = cooperative_groups;

__global__ void reduce_dim(const float* input, float* output, size_t reduce_size, size_t inner, size_t n_out) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);

    const size_t out_idx = (size_t)blockIdx.x * (blockDim.x / 32) + block.thread_rank() / 32;
    if (out_idx >= n_out) return;
    const float* base = input + (out_idx / inner) * reduce_size * inner + out_idx % inner;

    float val = 0.f;
    for (size_t i = tile.thread_rank(); i < reduce_size; i += tile.size()) val += base[i * inner];
    for (int offset = tile.size() / 2; offset > 0; offset /= 2) val += tile.shfl_down(val, offset);
    if (tile.thread_rank() == 0) output[out_idx] = val;
}

extern "C" void solution(const float* input, int dim, float* output, const size_t* shape, size_t ndim) {
    size_t outer = 1, inner = 1;
    for (int i = 0; i < dim; i++) outer *= shape[i];
    for (int i = dim + 1; i < (int)ndim; i++) inner *= shape[i];
    size_t n_out = outer * inner;
    reduce_dim<<<(n_out + 7) / 8, 256>>>(input, output, shape[dim], inner, n_out);
    hipDeviceSynchronize();
}
