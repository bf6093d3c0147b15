// HIP's atomic operations as clang's builtins: relaxed, with the scope of a block, the device or the system.
#pragma once

#include <hipshared/atomic_types.h>

namespace xray {

// A parameter of this type accepts any value that converts to T; T is deduced from the pointer alone.
template <class T>
using Value = std::type_identity_t<T>;

// Replaces *pointer, of 2 or 4 bytes, with f(*pointer) and returns the old value.
template <class T, class F>
__device__ inline T atomic_update(T* pointer, F f) {
  using Word = std::conditional_t<sizeof(T) == 2, unsigned short, unsigned>;
  auto* word = reinterpret_cast<Word*>(pointer);
  Word old = __hip_atomic_load(word, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  while (!__hip_atomic_compare_exchange_weak(word, &old, __builtin_bit_cast(Word, f(__builtin_bit_cast(T, old))),
                                             __ATOMIC_RELAXED, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)) {
  }
  return __builtin_bit_cast(T, old);
}

// The fast form of an addition to a pair of 16-bit numbers: one instruction for halves.
template <class P>
__device__ inline P unsafe_pair_add(P* pointer, P value) {
  if constexpr (std::is_same_v<decltype(pointer->x.native), _Float16>) {
    using Two = _Float16 __attribute__((ext_vector_type(2)));
    Two* two = reinterpret_cast<Two*>(pointer);
    return __builtin_bit_cast(P, __builtin_amdgcn_flat_atomic_fadd_v2f16(two, __builtin_bit_cast(Two, value)));
  } else {
    return atomic_update(pointer, [value](P old) { return old + value; });
  }
}

}  // namespace xray

#define XRAY_ATOMIC_SCOPE(name, builtin, scope, kind)                                      \
  template <class T>                                                                       \
    requires hipshared::is_atomic_##kind<T>                                                \
  __device__ inline T name(T* pointer, xray::Value<T> value) {                             \
    return builtin(pointer, value, __ATOMIC_RELAXED, scope);                               \
  }
#define XRAY_ATOMIC(name, builtin, kind)                                                  \
  XRAY_ATOMIC_SCOPE(name, builtin, __HIP_MEMORY_SCOPE_AGENT, kind)                        \
  XRAY_ATOMIC_SCOPE(name##_system, builtin, __HIP_MEMORY_SCOPE_SYSTEM, kind)
XRAY_ATOMIC(atomicAdd, __hip_atomic_fetch_add, number)
XRAY_ATOMIC(atomicSub, __hip_atomic_fetch_sub, number)
XRAY_ATOMIC(atomicMin, __hip_atomic_fetch_min, ordered)
XRAY_ATOMIC(atomicMax, __hip_atomic_fetch_max, ordered)
XRAY_ATOMIC(atomicAnd, __hip_atomic_fetch_and, integer)
XRAY_ATOMIC(atomicOr, __hip_atomic_fetch_or, integer)
XRAY_ATOMIC(atomicXor, __hip_atomic_fetch_xor, integer)
XRAY_ATOMIC(atomicExch, __hip_atomic_exchange, number)
XRAY_ATOMIC_SCOPE(safeAtomicAdd, __hip_atomic_fetch_add, __HIP_MEMORY_SCOPE_AGENT, floating)
XRAY_ATOMIC_SCOPE(safeAtomicMin, __hip_atomic_fetch_min, __HIP_MEMORY_SCOPE_AGENT, floating)
XRAY_ATOMIC_SCOPE(safeAtomicMax, __hip_atomic_fetch_max, __HIP_MEMORY_SCOPE_AGENT, floating)
#undef XRAY_ATOMIC
#undef XRAY_ATOMIC_SCOPE

#define XRAY_CAS(name, scope)                                                                             \
  template <class T>                                                                                      \
    requires hipshared::is_atomic_swapped<T>                                                              \
  __device__ inline T name(T* pointer, xray::Value<T> compare, xray::Value<T> value)                      \
      HIPTARGET_NEEDS_ROCM_7_IF(std::is_same_v<T, unsigned short>) {                                      \
    __hip_atomic_compare_exchange_strong(pointer, &compare, value, __ATOMIC_RELAXED, __ATOMIC_RELAXED, scope); \
    return compare;                                                                                       \
  }
XRAY_CAS(atomicCAS, __HIP_MEMORY_SCOPE_AGENT)
XRAY_CAS(atomicCAS_system, __HIP_MEMORY_SCOPE_SYSTEM)
#undef XRAY_CAS

__device__ inline unsigned atomicInc(unsigned* pointer, unsigned limit) {
  return __builtin_amdgcn_atomic_inc32(pointer, limit, __ATOMIC_RELAXED, "agent");
}
__device__ inline unsigned atomicDec(unsigned* pointer, unsigned limit) {
  return __builtin_amdgcn_atomic_dec32(pointer, limit, __ATOMIC_RELAXED, "agent");
}

// The fast forms: the author guarantees ordinary memory of this device, so that one instruction suffices.
#define XRAY_UNSAFE(name, builtin)                                                                    \
  template <class T>                                                                                  \
    requires hipshared::is_atomic_floating<T>                                                         \
  __device__ inline T name(T* pointer, xray::Value<T> value) {                                        \
    [[clang::atomic(no_remote_memory, no_fine_grained_memory, ignore_denormal_mode)]] {               \
      return builtin(pointer, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);                     \
    }                                                                                                 \
  }
XRAY_UNSAFE(unsafeAtomicAdd, __hip_atomic_fetch_add)
XRAY_UNSAFE(unsafeAtomicMax, __hip_atomic_fetch_max)
XRAY_UNSAFE(unsafeAtomicMin, __hip_atomic_fetch_min)
#undef XRAY_UNSAFE
__device__ inline void atomicAddNoRet(float* pointer, float value) { unsafeAtomicAdd(pointer, value); }
