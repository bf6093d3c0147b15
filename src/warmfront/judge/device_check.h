// Checks that the device works. The harness and the guest do this before submitted code is loaded: a GPU that
// does not work is a failure of the machine, and must be detected before a submission can be blamed for it.
#pragma once

#include <hip/hip_runtime.h>

#include <dirent.h>

#include <cstdint>
#include <fstream>
#include <string>

namespace {  // internal: the guest exports its symbols to submitted code

struct DeviceCheck {
  uint64_t free_bytes = 0;  // of the device's memory
  uint64_t total_bytes = 0;
  uint64_t resident_bytes = 0;  // of this process, which does nothing yet
  uint32_t threads = 0;
  uint32_t descriptors = 0;
  uint32_t devices = 0;
  uint32_t seccomp = 0;  // the kernel's mode: 2 if system calls are filtered
};

// Fills in the resources that this process uses while idle, to compare them with the limits of its box.
void count_process(DeviceCheck& result) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "VmRSS:" && status >> result.resident_bytes) result.resident_bytes *= 1024;
    if (word == "Threads:") status >> result.threads;
    if (word == "Seccomp:") status >> result.seccomp;
  }
  if (DIR* descriptors = opendir("/proc/self/fd")) {
    while (const dirent* entry = readdir(descriptors)) result.descriptors += entry->d_name[0] != '.';
    closedir(descriptors);
  }
}

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
  result.free_bytes = free_bytes;
  result.total_bytes = total_bytes;
  result.devices = static_cast<uint32_t>(devices);
  count_process(result);
  return "";
}

}  // namespace
