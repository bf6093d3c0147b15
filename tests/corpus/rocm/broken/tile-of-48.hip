#include <hip/hip_runtime.h>
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(float* p) {
  auto tile = cg::tiled_partition<48>(cg::this_thread_block());  //@ cg::tiled_partition
  p[0] = tile.size();
}
