#include <hip/hip_runtime.h>
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(float* p) {
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  p[0] = cg::reduce(tile, p[1], cg::plus<float>());  //@ reduce
}
