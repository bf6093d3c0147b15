// The parts of the HIP language that g++ and clang++ do not have: qualifiers, and the built-in variables.
//
// threadIdx and the other built-in variables have internal linkage and their addresses are never taken here, so
// that the compiler sees that only the loop over a block's threads changes them, and treats them as its counters.
#pragma once

// The macros that clang defines when it compiles for gfx942. Here a file is compiled once, for host and device, with
// the macros of the device pass.
#define __HIP__ 1
#define __HIPCC__ 1
#define __HIP_DEVICE_COMPILE__ 1
#define __AMDGCN__ 1
#define __AMDGPU__ 1
#define __GFX9__ 1
#define __gfx942__ 1
#define __amdgcn_processor__ "gfx942"
#define __amdgcn_target_id__ "gfx942"

#include <hipshared/device_macros.h>

#ifdef HIPCPU_CHECKED
// Functions are not inlined, so that an access keeps its line.
#define __global__
#define __forceinline__ __attribute__((unused))
#else
#define __global__ __attribute__((always_inline))
#define __forceinline__ __attribute__((always_inline))
#endif
#define __device__
#define __host__
#define __constant__
#define __managed__
// A worker runs one block at a time, so the shared memory of a block is thread-local to the worker.
#define __shared__ static __thread
// The largest alignment of a `__shared__` variable: that of the runtime's own thread-local memory.
#define HIPCPU_MAX_SHARED_ALIGNMENT 4096
#define __launch_bounds__(...)
// Empty, because the standard library uses __attribute__((__noinline__)).
#define __noinline__
#define __align__(bytes) __attribute__((aligned(bytes)))
#define HIP_DYNAMIC_SHARED(type, name) auto* const name = ::hipcpu::dynamic_shared<type>();

// Code in the shared headers runs on the host and on the device, which are the same here.
#define HIPTARGET_HOST_DEVICE_BEGIN
#define HIPTARGET_NEEDS_ROCM_7  // the X-ray's headers mark constructs that ROCm 6.4 lacks
#define HIPTARGET_NEEDS_ROCM_7_IF(...)
#define HIPTARGET_HOST_DEVICE_END

#ifdef __clang__
// A GPU loads and stores vectors at any address. With -fmax-type-align, so does clang, except for types with an explicit
// alignment: a vector gets its alignment from a member without elements.
#define HIPTARGET_ALIGNED(bytes)
#define HIPTARGET_ALIGNING(bytes) ::hipcpu::Aligning<bytes> aligning[0];
#endif

#include <hipshared/coordinates.h>

namespace hipcpu {

using hipshared::Coordinates;

#ifdef __clang__
template <decltype(sizeof 0) Bytes>
using Aligning = unsigned char __attribute__((vector_size(Bytes)));
#endif

constexpr unsigned kWaveSize = 64;
constexpr unsigned kMaxThreads = 1024;  // in a block
constexpr unsigned kSharedBytes = 160 * 1024;  // of any GPU; the runtime has the limit of the submission's GPU

}  // namespace hipcpu

// The name by which the shared headers call the target's functions.
namespace hiptarget = hipcpu;


// As in ROCm 7, not a constant of the language. It has the bytes of an int, because kernels pass it to printf.
static const struct {
  int lanes = hipcpu::kWaveSize;
  __attribute__((always_inline)) operator int() const noexcept { return hipcpu::kWaveSize; }
} warpSize;

// Not zero-initialized: this places them apart from the shared arrays, whose bounds a kernel may exceed.
[[maybe_unused]] static __thread hipcpu::Coordinates threadIdx = {1, 1, 1};
[[maybe_unused]] static __thread hipcpu::Coordinates blockIdx = {1, 1, 1};
[[maybe_unused]] static __thread hipcpu::Coordinates blockDim = {1, 1, 1};
[[maybe_unused]] static __thread hipcpu::Coordinates gridDim = {1, 1, 1};
