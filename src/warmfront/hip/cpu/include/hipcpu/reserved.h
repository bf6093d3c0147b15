// Names that a submission must not define; the guest checks for them.
//
// With -fwhole-program, g++ drops functions that are not called, so these are declared here to be kept. Names from
// headers that are not included here need no declaration: a dropped function does no harm.
#pragma once

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <hip/hip_runtime_api.h>

#if defined(__GNUC__) && !defined(__clang__)
#define HIPCPU_RESERVED(name) decltype(name) name __attribute__((externally_visible))

extern "C" {
// The first has overloads and the second a default argument, which decltype preserves.
hipError_t hipMalloc(void** pointer, size_t bytes) __attribute__((externally_visible));
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) __attribute__((externally_visible));
HIPCPU_RESERVED(hipFree);
HIPCPU_RESERVED(hipMemcpy);
HIPCPU_RESERVED(hipMemset);
HIPCPU_RESERVED(hipEventCreate);
HIPCPU_RESERVED(hipEventElapsedTime);
HIPCPU_RESERVED(hipEventSynchronize);
HIPCPU_RESERVED(hipDeviceSynchronize);
HIPCPU_RESERVED(hipGetLastError);
HIPCPU_RESERVED(clock_gettime);
HIPCPU_RESERVED(clock);
HIPCPU_RESERVED(time);
HIPCPU_RESERVED(nanosleep);
HIPCPU_RESERVED(malloc);
HIPCPU_RESERVED(calloc);
HIPCPU_RESERVED(realloc);
HIPCPU_RESERVED(free);
HIPCPU_RESERVED(exit);
HIPCPU_RESERVED(abort);
HIPCPU_RESERVED(memset);
HIPCPU_RESERVED(memcpy);
HIPCPU_RESERVED(memmove);
}

#undef HIPCPU_RESERVED
#endif
