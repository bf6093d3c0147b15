// The names that clang's HIP mode expects from a header: qualifiers and the built-in variables.
#pragma once

#include <stddef.h>

#include <hipshared/device_macros.h>

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];

// The maximum number of threads per block, and optionally the minimum number of waves per SIMD.
#define XRAY_BOUNDS_1(threads) __attribute__((amdgpu_flat_work_group_size(1, threads)))
#define XRAY_BOUNDS_2(threads, waves) \
  __attribute__((amdgpu_flat_work_group_size(1, threads), amdgpu_waves_per_eu(waves)))
#define XRAY_SECOND(first, second, name, ...) name
#define __launch_bounds__(...) XRAY_SECOND(__VA_ARGS__, XRAY_BOUNDS_2, XRAY_BOUNDS_1)(__VA_ARGS__)

// Marks a construct that ROCm 6.4 lacks: the X-ray turns the warning into a finding at the author's line.
#define HIPTARGET_NEEDS_ROCM_7_IF(...) __attribute__((diagnose_if((__VA_ARGS__), "needs ROCm 7", "warning")))
#define HIPTARGET_NEEDS_ROCM_7 HIPTARGET_NEEDS_ROCM_7_IF(true)

// Code in the shared headers runs on the host and on the device.
#define HIPTARGET_HOST_DEVICE_BEGIN _Pragma("clang force_cuda_host_device begin")
#define HIPTARGET_HOST_DEVICE_END _Pragma("clang force_cuda_host_device end")

#include <hipshared/coordinates.h>

// As in ROCm 7, a value that only the device knows, and not a constant of the language.
inline __device__ const struct {
  __device__ __attribute__((always_inline, const)) operator int() const noexcept {
#ifdef __HIP_DEVICE_COMPILE__
    return 64;
#else
    return __builtin_amdgcn_wavefrontsize();  // so that no code can be generated for it
#endif
  }
} warpSize{};

namespace xray {

// The runtime's hidden arguments follow those of the kernel and begin with the number of blocks in x, y and z.
__device__ inline unsigned blocks(int axis) {
  return ((const unsigned*)__builtin_amdgcn_implicitarg_ptr())[axis];
}

}  // namespace xray

// The name by which the shared headers call the target's functions.
namespace hiptarget = xray;

// Each is a property that is read from a register, not a variable.
#define XRAY_BUILTIN_VARIABLE(name, in_x, in_y, in_z)                                                                  \
  struct xray_##name {                                                                                      \
    __declspec(property(get = get_x)) unsigned x;                                                           \
    __declspec(property(get = get_y)) unsigned y;                                                           \
    __declspec(property(get = get_z)) unsigned z;                                                           \
    __device__ static inline unsigned get_x() { return in_x; }                                              \
    __device__ static inline unsigned get_y() { return in_y; }                                              \
    __device__ static inline unsigned get_z() { return in_z; }                                              \
    __device__ operator dim3() const { return {get_x(), get_y(), get_z()}; }                                \
    __device__ operator hipshared::Coordinates() const { return {get_x(), get_y(), get_z()}; }                 \
  };                                                                                                        \
  extern const __device__ __attribute__((weak)) xray_##name name;
XRAY_BUILTIN_VARIABLE(threadIdx, __builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(),
           __builtin_amdgcn_workitem_id_z())
XRAY_BUILTIN_VARIABLE(blockIdx, __builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(),
           __builtin_amdgcn_workgroup_id_z())
XRAY_BUILTIN_VARIABLE(blockDim, __builtin_amdgcn_workgroup_size_x(), __builtin_amdgcn_workgroup_size_y(),
           __builtin_amdgcn_workgroup_size_z())
XRAY_BUILTIN_VARIABLE(gridDim, xray::blocks(0), xray::blocks(1), xray::blocks(2))
#undef XRAY_BUILTIN_VARIABLE
