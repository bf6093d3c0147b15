// The functions that the compiler's instrumentation calls: one per kind of load, store and atomic.
//
// The names and signatures are those of -fsanitize=thread and of UBSan's bounds and alignment checks; the
// sanitizers' own libraries are not linked.
#include <cstring>

#include <hipcpu/checked.h>

#include "../runtime/text.h"
#include "finder.h"

namespace hipcpu::checks {

__thread bool watching;

namespace {

// An index that the compiler knows to be out of bounds; the access that follows shows which memory it reaches.
struct Overrun {
  bool waits = false;
  int line;
  uint64_t index;
  const char* type;
};
Overrun overrun;

uint64_t elements_of(const char* type) {
  const char* bracket = std::strchr(type, '[');
  uint64_t count = 0;
  for (; bracket && bracket[1] >= '0' && bracket[1] <= '9'; ++bracket) count = count * 10 + (bracket[1] - '0');
  return count;
}

void follow_overrun(const Region* region, size_t bytes, uintptr_t address) {
  overrun.waits = false;
  Text detail;
  detail << "index " << overrun.index << " is out of bounds of the array " << overrun.type;
  const bool in_shared = region && region->space == Space::kShared;
  // In a larger object the index may only have left its row: undefined, but often intended.
  const bool certain = in_shared && region->end - region->begin <= elements_of(overrun.type) * bytes;
  report_finding(in_shared ? "lds-out-of-bounds" : "array-bounds", certain ? Certainty::kError : Certainty::kWarning,
       detail.data(), {thread(), now.serial, 0, overrun.line}, nullptr, address);
}

// A GPU loads and stores at any address, but an atomic that is not aligned to its size is a memory fault.
void look_at_alignment(uintptr_t address, size_t bytes, uint32_t site) {
  if (address % bytes == 0) return;
  Text detail;
  detail << "an atomic of " << uint64_t{bytes} << " bytes needs an address that is a multiple of " << uint64_t{bytes}
         << "; this one is off by " << uint64_t{address % bytes} << ", which is a memory fault on a GPU";
  report_finding("misaligned-access", Certainty::kError, detail.data(), {thread(), now.serial, site, 0}, nullptr, address);
}

inline __attribute__((always_inline)) void look(const void* pointer, size_t bytes, unsigned flags) {
  if (!watching) return;
  spend(1);
  settle();
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  // Nearly all accesses of an unoptimized kernel are to its own stack.
  const auto stacks = reinterpret_cast<uintptr_t>(now.worker->stacks);
  const bool is_private = address - stacks < (kMaxThreads + 1) * (kPrivateBytes + (80u << 10));
  if (loads_in_flight && !(flags & kWrite)) {
    watching = false;
    look_at_flight(address, bytes, site_from(__builtin_frame_address(0)));
    watching = true;
  }
  if (is_private && !overrun.waits) return;
  Region* region = is_private ? nullptr : find_region(address);
  if (region && region->space == Space::kOurs) return;
  watching = false;
  if (overrun.waits) follow_overrun(region, bytes, address);
  if (!is_private) {
    const uint32_t site = site_from(__builtin_frame_address(0));
    if (flags & kAtomic) look_at_alignment(address, bytes, site);
    if (region && address + bytes <= region->end) {
      touch(*region, address, bytes, flags, site);
      if (bytes == 16 && region->space == Space::kShared) note_wide_access(address, site);
    } else
      report_invalid_access(address, bytes, flags & kWrite, site);
  }
  watching = true;
}

}  // namespace

}  // namespace hipcpu::checks

using namespace hipcpu;
using namespace hipcpu::checks;

#define HIPCPU_PLAIN(bytes)                                                                               \
  void __tsan_read##bytes(void* p) { look(p, bytes, kRead); }                                             \
  void __tsan_write##bytes(void* p) { look(p, bytes, kWrite); }                                           \
  void __tsan_unaligned_read##bytes(void* p) { look(p, bytes, kRead); }                                   \
  void __tsan_unaligned_write##bytes(void* p) { look(p, bytes, kWrite); }                                 \
  void __tsan_volatile_read##bytes(void* p) { look(p, bytes, kRead | kVolatile); }                        \
  void __tsan_volatile_write##bytes(void* p) { look(p, bytes, kWrite | kVolatile); }                      \
  void __tsan_unaligned_volatile_read##bytes(void* p) { look(p, bytes, kRead | kVolatile); }              \
  void __tsan_unaligned_volatile_write##bytes(void* p) { look(p, bytes, kWrite | kVolatile); }

// Each performs the operation: host code calls them too.
#define HIPCPU_FETCH(bits, T, name)                                                    \
  T __tsan_atomic##bits##_fetch_##name(volatile T* p, T v, int) {                      \
    look(const_cast<T*>(p), sizeof(T), kWrite | kAtomic);                              \
    return __atomic_fetch_##name(p, v, __ATOMIC_SEQ_CST);                              \
  }
#define HIPCPU_EXCHANGE(bits, T, name)                                                              \
  int __tsan_atomic##bits##_compare_exchange_##name(volatile T* p, T* old, T v, int, int) {         \
    look(const_cast<T*>(p), sizeof(T), kWrite | kAtomic | kLock);                                   \
    return __atomic_compare_exchange_n(p, old, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);       \
  }
#define HIPCPU_ATOMICS(bits, T)                                                        \
  T __tsan_atomic##bits##_load(const volatile T* p, int) {                             \
    look(const_cast<T*>(p), sizeof(T), kRead | kAtomic | kLock);                       \
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                       \
  }                                                                                    \
  void __tsan_atomic##bits##_store(volatile T* p, T v, int) {                          \
    look(const_cast<T*>(p), sizeof(T), kWrite | kAtomic | kLock | kStore);             \
    __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                          \
  }                                                                                    \
  T __tsan_atomic##bits##_exchange(volatile T* p, T v, int) {                          \
    look(const_cast<T*>(p), sizeof(T), kWrite | kAtomic | kLock);                      \
    return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                                \
  }                                                                                    \
  T __tsan_atomic##bits##_compare_exchange_val(volatile T* p, T old, T v, int, int) {  \
    look(const_cast<T*>(p), sizeof(T), kWrite | kAtomic | kLock);                      \
    __atomic_compare_exchange_n(p, &old, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);\
    return old;                                                                        \
  }                                                                                    \
  HIPCPU_EXCHANGE(bits, T, strong)                                                     \
  HIPCPU_EXCHANGE(bits, T, weak)                                                       \
  HIPCPU_FETCH(bits, T, add)                                                           \
  HIPCPU_FETCH(bits, T, sub)                                                           \
  HIPCPU_FETCH(bits, T, and)                                                           \
  HIPCPU_FETCH(bits, T, or)                                                            \
  HIPCPU_FETCH(bits, T, xor)                                                           \
  HIPCPU_FETCH(bits, T, nand)

namespace {

// The layout that the compiler uses.
struct Location {
  const char* file;
  uint32_t line;
  uint32_t column;
};
struct Type {
  uint16_t kind;
  uint16_t info;
  char name[1];
};
struct OutOfBounds {
  Location location;
  const Type* array;
  const Type* index;
};
struct TypeMismatch {
  Location location;
  const Type* type;
  unsigned char alignment_log;
  unsigned char kind;
};

}  // namespace

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_read(void**) {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) {}
void __tsan_read_range(void* p, unsigned long bytes) { look(p, bytes, kRead); }
void __tsan_write_range(void* p, unsigned long bytes) { look(p, bytes, kWrite); }

// Clang copies a float4 with these.
void* __tsan_memcpy(void* to, const void* from, unsigned long bytes) {
  look(from, bytes, kRead);
  look(to, bytes, kWrite);
  return std::memcpy(to, from, bytes);
}
void* __tsan_memmove(void* to, const void* from, unsigned long bytes) {
  look(from, bytes, kRead);
  look(to, bytes, kWrite);
  return std::memmove(to, from, bytes);
}
void* __tsan_memset(void* to, int value, unsigned long bytes) {
  look(to, bytes, kWrite);
  return std::memset(to, value, bytes);
}

HIPCPU_PLAIN(1)
HIPCPU_PLAIN(2)
HIPCPU_PLAIN(4)
HIPCPU_PLAIN(8)
HIPCPU_PLAIN(16)
HIPCPU_ATOMICS(8, uint8_t)
HIPCPU_ATOMICS(16, uint16_t)
HIPCPU_ATOMICS(32, uint32_t)
HIPCPU_ATOMICS(64, uint64_t)

void hipcpu_checked_update(const void* address, size_t bytes) { look(address, bytes, kWrite | kAtomic); }

// An alignment assumption of the C++ library; the access that follows is checked like any other.
void __ubsan_handle_alignment_assumption(void*, uintptr_t, uintptr_t, uintptr_t) {}

void __ubsan_handle_out_of_bounds(OutOfBounds* data, uintptr_t index) {
  if (!watching) return;
  overrun = {true, static_cast<int>(data->location.line), index, data->array->name};
}

void __ubsan_handle_type_mismatch_v1(TypeMismatch* data, uintptr_t pointer) {
  const uintptr_t alignment = uintptr_t{1} << data->alignment_log;
  if (!watching || pointer % alignment == 0) return;
  watching = false;
  settle();
  hipcpu::Text detail;
  // The compiler's name for float4 would not help.
  const bool is_vector = std::strstr(data->type->name, "HIP_vector_type");
  detail << "an access to " << (is_vector ? "a vector" : data->type->name) << " needs an address that is a multiple of "
         << uint64_t{alignment} << " in C++; this one is off by " << uint64_t{pointer % alignment}
         << ", which a GPU executes, possibly more slowly";
  // The reported line may be in a header, which copies the vector.
  const uint32_t site = site_from(__builtin_frame_address(0));
  report_finding("misaligned-access", Certainty::kWarning, detail.data(), {thread(), now.serial, site, 0}, nullptr, pointer);
  watching = true;
}
}
