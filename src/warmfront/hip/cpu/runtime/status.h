// The error that hipGetLastError returns, per host thread.
#pragma once

#include <hip/hip_runtime_api.h>

namespace hipcpu {

// Stores `error` for hipGetLastError unless it is success; returns `error`.
hipError_t set_last_error(hipError_t error);

}  // namespace hipcpu
