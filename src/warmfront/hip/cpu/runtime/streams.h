// Validation of stream handles.
#pragma once

#include <hip/hip_runtime_api.h>

namespace hipcpu {

// Whether `stream` is valid: the null stream, the two special ones, or one that was created and not destroyed.
bool is_stream(hipStream_t stream);

}  // namespace hipcpu
