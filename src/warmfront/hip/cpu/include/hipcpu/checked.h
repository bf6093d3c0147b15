// The reports of a submission's code to the bug finder in a checked build (HIPCPU_CHECKED); empty in any
// other build. Loads and stores are reported by the compiler's instrumentation.
#pragma once

#ifdef HIPCPU_CHECKED

#include <cstddef>
#include <cstdint>

extern "C" {
// Thread `thread` of the running block starts and ends; `place` is the address of this file's threadIdx.
void hipcpu_checked_begin(uint32_t thread, const void* place);
void hipcpu_checked_end();
// The value that a lane gets from lane `source` at this line; garbage if that lane did not participate.
uint64_t hipcpu_checked_shuffle(uint32_t source, int line);
// `what` at this line reads lane `source`, which does not participate.
void hipcpu_checked_inactive(uint32_t source, const char* what, int line);
// The thread waits until at most this many of its operations on global memory and on LDS are running.
void hipcpu_checked_wait(unsigned vector_memory, unsigned lds);
// A barrier begins; it waits for memory operations unless the next function was called before.
void hipcpu_checked_barrier();
// The barrier that follows does not wait for memory operations, unlike __syncthreads.
void hipcpu_checked_bare_barrier();
// `bytes` at `offset` of a buffer are beyond the size in its descriptor.
void hipcpu_checked_buffer(uint64_t offset, size_t bytes, uint64_t size, bool writes);
// A load to LDS that has just been made runs until the thread waits for it.
void hipcpu_checked_lds_load(void* to, size_t bytes);
// The same for a load to a variable, by inline assembly; `lds` says which memory was read.
void hipcpu_checked_register_load(void* to, size_t bytes, bool lds);
// A lane accesses 16 bytes of LDS.
void hipcpu_checked_wide_access(const void* address);
// A vote at this line resulted in `votes`.
void hipcpu_checked_vote(uint64_t votes, int line);
// A read-modify-write that the instrumentation would report as a loop of accesses.
void hipcpu_checked_update(const void* address, size_t bytes);
}

// Not instrumented: the function is part of the runtime, or reports its accesses itself.
#define HIPCPU_UNCHECKED __attribute__((no_sanitize("thread", "bounds", "alignment")))

#else
#define HIPCPU_UNCHECKED
#endif

// A template that is named like a builtin. To g++, names that begin with `__builtin_` have C linkage, so all instantiations of
// a template have one symbol. In a checked build, which is not optimized, two of them would be defined twice if they were
// not inlined.
#define HIPCPU_BUILTIN_TEMPLATE static inline __attribute__((always_inline))
