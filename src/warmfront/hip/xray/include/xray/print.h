// Functions of the C library for kernels: printing, assertions, copying and allocating memory.
#pragma once

#include <stddef.h>

#include <new>

#ifndef XRAY_NO_LIBRARIES

extern "C" {
__device__ int printf(const char* format, ...);
__device__ void* __ockl_dm_alloc(size_t bytes);
__device__ void __ockl_dm_dealloc(void* pointer);
}

#else  // printing is left out, because its cost is unknown

template <class... Args>
__device__ inline int printf(const char*, Args...) {
  return 0;
}
__device__ inline void* __ockl_dm_alloc(size_t) { return nullptr; }
__device__ inline void __ockl_dm_dealloc(void*) {}

#endif

// Not inlined: an assertion must not increase the register use of a kernel.
__device__ __attribute__((noinline)) inline void xray_assertion_failed(const char* text, unsigned line) {
  printf("line %u: assertion %s failed\n", line, text);
  __builtin_trap();
}
extern "C" __device__ inline void __assert_fail(const char* text, const char*, unsigned line, const char*) {
  xray_assertion_failed(text, line);
}

__device__ inline void abort() { __builtin_trap(); }
__device__ inline void* malloc(size_t bytes) { return __ockl_dm_alloc(bytes); }
__device__ inline void free(void* pointer) { __ockl_dm_dealloc(pointer); }

__device__ inline void* operator new(size_t bytes) { return malloc(bytes); }
__device__ inline void* operator new[](size_t bytes) { return malloc(bytes); }
__device__ inline void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return malloc(bytes); }
__device__ inline void* operator new[](size_t bytes, const std::nothrow_t&) noexcept { return malloc(bytes); }
__device__ inline void* operator new(size_t, void* place) noexcept { return place; }
__device__ inline void* operator new[](size_t, void* place) noexcept { return place; }
__device__ inline void operator delete(void* pointer) noexcept { free(pointer); }
__device__ inline void operator delete[](void* pointer) noexcept { free(pointer); }
__device__ inline void operator delete(void* pointer, size_t) noexcept { free(pointer); }
__device__ inline void operator delete[](void* pointer, size_t) noexcept { free(pointer); }
__device__ inline void operator delete(void* pointer, const std::nothrow_t&) noexcept { free(pointer); }
__device__ inline void operator delete[](void* pointer, const std::nothrow_t&) noexcept { free(pointer); }
__device__ inline void operator delete(void*, void*) noexcept {}
__device__ inline void operator delete[](void*, void*) noexcept {}

__device__ inline void* memcpy(void* to, const void* from, size_t bytes) { return __builtin_memcpy(to, from, bytes); }
__device__ inline void* memmove(void* to, const void* from, size_t bytes) {
  return __builtin_memmove(to, from, bytes);
}
__device__ inline void* memset(void* to, int value, size_t bytes) { return __builtin_memset(to, value, bytes); }
