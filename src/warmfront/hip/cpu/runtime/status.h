// The error that hipGetLastError tells, one for each host thread.
#pragma once

#include <hip/hip_runtime_api.h>

namespace hipcpu {

// Keeps `error` for hipGetLastError unless it is success, and gives it back.
hipError_t set_last_error(hipError_t error);

}  // namespace hipcpu
