// The last error of each host thread, and the texts of the error codes.
#include "status.h"

#include <hip/hip_runtime_api.h>

namespace hipcpu {

namespace {
__thread hipError_t last_error;
}

hipError_t set_last_error(hipError_t error) {
  // hipErrorNotReady answers a query and is not a failure.
  if (error != hipSuccess && error != hipErrorNotReady) last_error = error;
  return error;
}

}  // namespace hipcpu

extern "C" {

hipError_t hipGetLastError() {
  const hipError_t error = hipcpu::last_error;
  hipcpu::last_error = hipSuccess;
  return error;
}

hipError_t hipPeekAtLastError() { return hipcpu::last_error; }

const char* hipGetErrorString(hipError_t error) {
  switch (error) {
#define HIPCPU_CASE(name, number, text) \
  case name:                            \
    return text;
    HIPSHARED_ERRORS(HIPCPU_CASE)
#undef HIPCPU_CASE
  }
  return "unrecognized error code";
}

const char* hipGetErrorName(hipError_t error) {
  switch (error) {
#define HIPCPU_CASE(name, number, text) \
  case name:                            \
    return #name;
    HIPSHARED_ERRORS(HIPCPU_CASE)
#undef HIPCPU_CASE
  }
  return "hipErrorUnknown";
}
}
