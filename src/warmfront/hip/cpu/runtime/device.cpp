// The device that programs see: one MI300X, or the devices of a stub GPU.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include <hip/hip_runtime_api.h>
#include <hipcpu/core.h>

#include "status.h"
#include "stub_gpu.h"
#include "worker.h"
#include "target.h"

namespace {

using hipcpu::set_last_error;
namespace stub = hipcpu::stub;

constexpr int kVersion = 60443484;  // the value of ROCm 6.4
constexpr int kMaxThreadsPerUnit = 2048;
constexpr int kMaxBlocksPerUnit = 32;

int device_count() { return stub::is_on() ? stub::device_count() : 1; }
bool is_device(int device) { return device >= 0 && device < device_count(); }
size_t memory_bytes() { return stub::is_on() ? stub::facts().memory_bytes : hipcpu::target().memory_bytes; }

std::string device_name() {
  if (stub::is_on()) return stub::facts().name;
  return std::string("AMD Instinct ") + hipcpu::target().name + " (CPU runtime)";
}

std::string architecture() {
  if (stub::is_on()) return stub::facts().arch;
  return std::string(hipcpu::target().arch) + ":sramecc+:xnack-";
}

// Stores the answer through a pointer, which must not be null.
template <class T>
hipError_t answer(T* place, T value) {
  if (!place) return set_last_error(hipErrorInvalidValue);
  *place = value;
  return hipSuccess;
}

hipError_t check_kernel(const void* kernel) {
  return set_last_error(kernel ? hipSuccess : hipErrorInvalidDeviceFunction);
}

int attribute_value(hipDeviceAttribute_t attribute) {
  if (stub::is_on() && attribute == hipDeviceAttributeMultiprocessorCount) return stub::facts().compute_units;
  if (attribute == hipDeviceAttributeMaxSharedMemoryPerBlock || attribute == hipDeviceAttributeSharedMemPerBlockOptin ||
      attribute == hipDeviceAttributeMaxSharedMemoryPerMultiprocessor)
    return static_cast<int>(hipcpu::target().shared_bytes);
  switch (attribute) {
#define HIPCPU_CASE(name, value) \
  case name:                     \
    return value;
    HIPSHARED_ATTRIBUTES(HIPCPU_CASE)
#undef HIPCPU_CASE
  }
  return -1;
}

}  // namespace

extern "C" {

hipError_t hipInit(unsigned flags) { return set_last_error(flags == 0 ? hipSuccess : hipErrorInvalidValue); }

hipError_t hipGetDeviceCount(int* count) {
  const stub::Call call;
  const hipError_t error = answer(count, call.error() == hipErrorNoDevice ? 0 : device_count());
  return error != hipSuccess ? error : set_last_error(call.error());
}

hipError_t hipGetDevice(int* device) {
  const stub::Call call;
  if (call.error() != hipSuccess) return set_last_error(call.error());
  return answer(device, stub::is_on() ? stub::current_device() : 0);
}

hipError_t hipSetDevice(int device) {
  const stub::Call call;
  if (call.error() != hipSuccess) return set_last_error(call.error());
  const bool known = stub::is_on() ? stub::set_device(device) : device == 0;
  return set_last_error(known ? hipSuccess : hipErrorInvalidDevice);
}

hipError_t hipSetDeviceFlags(unsigned) { return hipSuccess; }
hipError_t hipDeviceReset() { return hipSuccess; }

hipError_t hipDeviceSynchronize() {
  const stub::Call call;
  if (call.error() == hipSuccess && stub::is_on()) stub::synchronize_device();
  return set_last_error(call.error());
}

hipError_t hipGetDeviceProperties(hipDeviceProp_t* p, int device) {
  const stub::Call call;
  if (call.error() != hipSuccess) return set_last_error(call.error());
  if (!p) return set_last_error(hipErrorInvalidValue);
  if (!is_device(device)) return set_last_error(hipErrorInvalidDevice);
  *p = {};
  std::snprintf(p->name, sizeof p->name, "%s", device_name().c_str());
  std::snprintf(p->gcnArchName, sizeof p->gcnArchName, "%s", architecture().c_str());
  if (stub::is_on()) p->pciBusID = stub::pci_bus(device);
  p->totalGlobalMem = memory_bytes();
  p->sharedMemPerBlock = p->sharedMemPerBlockOptin = hipcpu::target().shared_bytes;
  p->sharedMemPerMultiprocessor = p->maxSharedMemoryPerMultiProcessor = hipcpu::target().shared_bytes;
  p->regsPerBlock = attribute_value(hipDeviceAttributeMaxRegistersPerBlock);
  p->regsPerMultiprocessor = attribute_value(hipDeviceAttributeMaxRegistersPerMultiprocessor);
  p->warpSize = hipcpu::kWaveSize;
  p->memPitch = 2147483647;
  p->maxThreadsPerBlock = hipcpu::kMaxThreads;
  std::fill_n(p->maxThreadsDim, 3, static_cast<int>(hipcpu::kMaxThreads));
  p->maxGridSize[0] = attribute_value(hipDeviceAttributeMaxGridDimX);
  p->maxGridSize[1] = p->maxGridSize[2] = attribute_value(hipDeviceAttributeMaxGridDimY);
  p->clockRate = attribute_value(hipDeviceAttributeClockRate);
  p->clockInstructionRate = attribute_value(hipDeviceAttributeWallClockRate);
  p->totalConstMem = 2147483647;
  p->major = attribute_value(hipDeviceAttributeComputeCapabilityMajor);
  p->minor = attribute_value(hipDeviceAttributeComputeCapabilityMinor);
  p->textureAlignment = 256;
  p->multiProcessorCount = attribute_value(hipDeviceAttributeMultiprocessorCount);
  p->canMapHostMemory = p->concurrentKernels = p->ECCEnabled = 1;
  p->managedMemory = p->concurrentManagedAccess = p->unifiedAddressing = p->cooperativeLaunch = 1;
  p->memoryClockRate = attribute_value(hipDeviceAttributeMemoryClockRate);
  p->memoryBusWidth = attribute_value(hipDeviceAttributeMemoryBusWidth);
  p->l2CacheSize = attribute_value(hipDeviceAttributeL2CacheSize);
  p->maxThreadsPerMultiProcessor = kMaxThreadsPerUnit;
  p->maxBlocksPerMultiProcessor = kMaxBlocksPerUnit;
  p->asyncEngineCount = attribute_value(hipDeviceAttributeAsyncEngineCount);
  return hipSuccess;
}

hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device) {
  if (!is_device(device)) return set_last_error(hipErrorInvalidDevice);
  const int known = attribute_value(attribute);
  return known < 0 ? set_last_error(hipErrorInvalidValue) : answer(value, known);
}

hipError_t hipDeviceGetName(char* name, int length, int device) {
  if (!name || length <= 0) return set_last_error(hipErrorInvalidValue);
  if (!is_device(device)) return set_last_error(hipErrorInvalidDevice);
  std::snprintf(name, static_cast<size_t>(length), "%s", device_name().c_str());
  return hipSuccess;
}

hipError_t hipDeviceTotalMem(size_t* bytes, int device) {
  return is_device(device) ? answer(bytes, memory_bytes()) : set_last_error(hipErrorInvalidDevice);
}

hipError_t hipDeviceGetLimit(size_t* value, hipLimit_t limit) {
  if (limit == hipLimitStackSize) return answer(value, hipcpu::kPrivateBytes);
  return set_last_error(hipErrorUnsupportedLimit);
}

hipError_t hipDeviceSetLimit(hipLimit_t limit, size_t bytes) {
  const bool can = limit == hipLimitStackSize && bytes <= hipcpu::kPrivateBytes;
  return set_last_error(can ? hipSuccess : hipErrorUnsupportedLimit);
}

hipError_t hipDeviceSetCacheConfig(hipFuncCache_t) { return hipSuccess; }
hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig) { return hipSuccess; }

hipError_t hipDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least) *least = 1;
  if (greatest) *greatest = -1;
  return hipSuccess;
}

hipError_t hipDeviceCanAccessPeer(int* can, int device, int peer) {
  if (!is_device(device) || !is_device(peer)) return set_last_error(hipErrorInvalidDevice);
  return answer(can, 0);
}

hipError_t hipDeviceEnablePeerAccess(int, unsigned) { return set_last_error(hipErrorInvalidDevice); }
hipError_t hipDriverGetVersion(int* version) { return answer(version, kVersion); }
hipError_t hipRuntimeGetVersion(int* version) { return answer(version, kVersion); }

hipError_t hipFuncSetAttribute(const void* kernel, hipFuncAttribute attribute, int value) {
  if (attribute == hipFuncAttributeMaxDynamicSharedMemorySize && value > static_cast<int>(hipcpu::target().shared_bytes))
    return set_last_error(hipErrorInvalidValue);
  return check_kernel(kernel);
}

hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, const void* kernel) {
  if (!attributes) return set_last_error(hipErrorInvalidValue);
  *attributes = {};
  attributes->maxThreadsPerBlock = hipcpu::kMaxThreads;
  attributes->maxDynamicSharedSizeBytes = hipcpu::target().shared_bytes;
  return check_kernel(kernel);
}

hipError_t hipFuncSetCacheConfig(const void* kernel, hipFuncCache_t) { return check_kernel(kernel); }
hipError_t hipFuncSetSharedMemConfig(const void* kernel, hipSharedMemConfig) { return check_kernel(kernel); }

// Considers threads, blocks and shared memory, but not registers, which only the X-ray knows.
hipError_t hipcpu_occupancy(int* blocks, int block_size, size_t shared_bytes) {
  if (!blocks || block_size <= 0 || block_size > static_cast<int>(hipcpu::kMaxThreads))
    return set_last_error(hipErrorInvalidValue);
  if (shared_bytes > hipcpu::target().shared_bytes) return answer(blocks, 0);
  const int waves = (block_size + warpSize - 1) / warpSize;
  int fit = std::min(kMaxBlocksPerUnit, kMaxThreadsPerUnit / (waves * warpSize));
  if (shared_bytes) fit = std::min(fit, static_cast<int>(hipcpu::target().shared_bytes / shared_bytes));
  return answer(blocks, fit);
}
}
