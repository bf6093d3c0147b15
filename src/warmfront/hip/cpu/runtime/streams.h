// Streams, as far as others must know one when they see it.
#pragma once

#include <hip/hip_runtime_api.h>

namespace hipcpu {

// Whether `stream` exists: the null stream, the two special ones, or one that was made and not destroyed.
bool is_stream(hipStream_t stream);

}  // namespace hipcpu
