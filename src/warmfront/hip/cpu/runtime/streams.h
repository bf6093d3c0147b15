// Streams: whether a handle is valid, and their work.
#pragma once

#include <hip/hip_runtime_api.h>

#include "stub_gpu.h"

namespace hipcpu {

// Whether `stream` is valid: the null stream, the two special ones, or one that was created and not destroyed.
bool is_stream(hipStream_t stream);

// The work of a valid stream, on a stub GPU.
stub::Queue* queue_of(hipStream_t stream);

}  // namespace hipcpu
