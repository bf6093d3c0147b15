// What a submission's code tells the bug finder in a checked build (HIPCPU_CHECKED); in any other build this
// file has nothing. Loads and stores need no word here: the compiler's own instrumentation tells of them.
#pragma once

#ifdef HIPCPU_CHECKED

#include <cstddef>
#include <cstdint>

extern "C" {
// Thread `thread` of the running block begins and ends; `place` is the address of this file's threadIdx.
void hipcpu_checked_begin(uint32_t thread, const void* place);
void hipcpu_checked_end();
// What the lane gets that reads lane `source` at this line; garbage if that lane took no part.
uint64_t hipcpu_checked_shuffle(uint32_t source, int line);
// A vote at this line has come to `votes`.
void hipcpu_checked_vote(uint64_t votes, int line);
// An atomic read and write that the compiler would show as a loop of several.
void hipcpu_checked_update(const void* address, size_t bytes);
}

// Not instrumented: it stands between the runtime and the author's code, or tells of itself.
#define HIPCPU_UNCHECKED __attribute__((no_sanitize("thread", "bounds", "alignment")))

#else
#define HIPCPU_UNCHECKED
#endif
