// Measurements of a device for `warmfront doctor --gpu`: whether memory still holds the data of the last
// program, and how fast copies are. Only the harness includes this file.
#pragma once

#include <hip/hip_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr size_t kProbeChunk = size_t{64} << 20;

struct ResidueProbe {
  uint64_t bytes;    // how much memory to allocate
  uint32_t pattern;  // a byte
  uint32_t poison;   // whether to write the pattern; else to look for it
};

struct ResidueResult {
  uint64_t bytes = 0;     // how much memory could be allocated
  uint64_t samples = 0;   // pages that were read
  uint64_t residues = 0;  // pages that have the pattern of another program
};

// Allocates memory and writes the pattern, or reads some pages and counts those that have it. The memory is not freed:
// the driver must clear it when the program ends, as it must for a submission.
inline hipError_t probe_residue(const ResidueProbe& probe, ResidueResult& result) {
  constexpr size_t kPage = 4096;
  constexpr int kSamplesPerChunk = 8;
  std::mt19937_64 random(std::random_device{}());
  std::vector<unsigned char> page(kPage);
  for (; result.bytes < probe.bytes; result.bytes += kProbeChunk) {
    void* memory = nullptr;
    if (hipMalloc(&memory, kProbeChunk) != hipSuccess) {
      (void)hipGetLastError();
      break;  // the memory is full: use what was allocated so far
    }
    if (probe.poison != 0) {
      const hipError_t error = hipMemset(memory, static_cast<int>(probe.pattern), kProbeChunk);
      if (error != hipSuccess) return error;
      continue;
    }
    for (int i = 0; i < kSamplesPerChunk; ++i, ++result.samples) {
      const size_t offset = random() % (kProbeChunk / kPage) * kPage;
      const hipError_t error =
          hipMemcpy(page.data(), static_cast<char*>(memory) + offset, kPage, hipMemcpyDeviceToHost);
      if (error != hipSuccess) return error;
      result.residues += std::all_of(page.begin(), page.end(), [&](unsigned char byte) { return byte == probe.pattern; });
    }
  }
  return hipDeviceSynchronize();
}

// The rate of copies between host and device in GB/s, measured with HIP events: the best of a few.
struct CopyRates {
  double pageable_to_device = 0;
  double pageable_to_host = 0;
  double pinned_to_device = 0;
  double pinned_to_host = 0;
};

inline hipError_t measure_copy(void* to, const void* from, size_t bytes, hipMemcpyKind kind, double& gbps) {
  hipEvent_t start;
  hipEvent_t stop;
  hipError_t error = hipEventCreate(&start);
  if (error == hipSuccess) error = hipEventCreate(&stop);
  for (int i = 0; error == hipSuccess && i < 4; ++i) {
    float ms = 0;
    (void)hipEventRecord(start, nullptr);
    error = hipMemcpy(to, from, bytes, kind);
    (void)hipEventRecord(stop, nullptr);
    (void)hipEventSynchronize(stop);
    if (hipEventElapsedTime(&ms, start, stop) == hipSuccess && ms > 0)
      gbps = std::max(gbps, static_cast<double>(bytes) / ms / 1e6);
  }
  (void)hipEventDestroy(start);
  (void)hipEventDestroy(stop);
  return error;
}

inline hipError_t measure_copies(size_t bytes, CopyRates& rates) {
  void* device = nullptr;
  void* pinned = nullptr;
  std::vector<char> pageable(bytes, 1);
  hipError_t error = hipMalloc(&device, bytes);
  if (error == hipSuccess) error = hipHostMalloc(&pinned, bytes, 0);
  if (error != hipSuccess) return error;
  std::memset(pinned, 1, bytes);
  const auto both = [&](void* host, double& to_device, double& to_host) {
    const hipError_t failed = measure_copy(device, host, bytes, hipMemcpyHostToDevice, to_device);
    return failed != hipSuccess ? failed : measure_copy(host, device, bytes, hipMemcpyDeviceToHost, to_host);
  };
  error = both(pageable.data(), rates.pageable_to_device, rates.pageable_to_host);
  if (error == hipSuccess) error = both(pinned, rates.pinned_to_device, rates.pinned_to_host);
  (void)hipFree(device);
  (void)hipHostFree(pinned);
  return error;
}

}  // namespace
