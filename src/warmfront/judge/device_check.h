// Uses the device for a moment, as harness and guest do before submitted code is loaded: a GPU that does not work is
// the machine's failure, and must be known before anything can be blamed on a submission.
#pragma once

#include <hip/hip_runtime.h>

#include <cstdint>
#include <string>

namespace {  // internal: the guest exports its symbols to submitted code

struct DeviceCheck {
  uint64_t free_bytes = 0;
  uint64_t total_bytes = 0;
};

// Returns the call that failed and its error, such as "hipGetDeviceCount: hipErrorNoDevice"; empty if the device works.
std::string check_device(DeviceCheck& result) {
  constexpr size_t kWords = 1024;
  constexpr unsigned char kByte = 0xa5;
  const auto failure = [](const char* call, hipError_t error) {
    return std::string(call) + ": " + hipGetErrorName(error);
  };
  int devices = 0;
  hipError_t error = hipGetDeviceCount(&devices);
  if (error == hipSuccess && devices == 0) error = hipErrorNoDevice;
  if (error != hipSuccess) return failure("hipGetDeviceCount", error);
  hipDeviceProp_t properties{};
  error = hipGetDeviceProperties(&properties, 0);
  if (error != hipSuccess) return failure("hipGetDeviceProperties", error);
  void* memory = nullptr;
  error = hipMalloc(&memory, kWords * sizeof(uint32_t));
  if (error != hipSuccess) return failure("hipMalloc", error);
  uint32_t words[kWords] = {};
  error = hipMemset(memory, kByte, sizeof words);
  if (error != hipSuccess) return failure("hipMemset", error);
  error = hipMemcpy(words, memory, sizeof words, hipMemcpyDeviceToHost);
  if (error != hipSuccess) return failure("hipMemcpy", error);
  for (uint32_t word : words)
    if (word != 0x01010101u * kByte) return "hipMemcpy: device memory has a wrong value";
  error = hipFree(memory);
  if (error != hipSuccess) return failure("hipFree", error);
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  error = hipMemGetInfo(&free_bytes, &total_bytes);
  if (error != hipSuccess) return failure("hipMemGetInfo", error);
  result = {free_bytes, total_bytes};
  return "";
}

}  // namespace
