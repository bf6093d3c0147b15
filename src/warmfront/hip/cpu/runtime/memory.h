// Device memory: which allocation an address belongs to, and when it can be accessed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <hip/hip_runtime_api.h>

namespace hipcpu {

enum class Home : uint8_t { kDevice, kManaged, kPinned, kRegistered };

// Memory that another process can map, or has exported.
struct SharedFile {
  std::string path;
  uint64_t offset;
  bool imported;
};

struct Allocation {
  size_t bytes;           // the requested size
  void* mapping;          // includes the guard pages; null for registered host memory
  size_t mapping_bytes;
  Home home;
  unsigned flags;
  std::shared_ptr<const SharedFile> file = nullptr;  // null for memory of this process only
  uint64_t made_at = 0;  // the number of operations on device memory before it was allocated
  bool fresh = true;  // not accessed yet; for a stub GPU
  bool used = true;   // whether kernels may access it while device memory is protected
};

struct AllocationRange {
  uintptr_t begin;
  Allocation allocation;
};

// Every allocation that has not been freed, sorted by address.
std::vector<AllocationRange> live_allocations();

// Finds the allocation that `pointer` points into, or to the end of.
bool find_allocation(const void* pointer, AllocationRange* range);

// Maps an allocation that a file contains as device memory: see ipc_handle.h for its place in the file.
hipError_t open_shared(void** pointer, size_t bytes, const SharedFile& file);

// Unmaps memory that open_shared has mapped.
hipError_t close_shared(void* pointer);

// The folder of the files of exported memory; none can be exported if it is empty.
void export_to(const std::string& folder);

// Moves an allocation of device memory to a file that other processes can map, unless it is in one.
hipError_t export_shared(void* pointer);

// The size of the allocation of device memory that contains `pointer`, if this is the first access to it; else 0.
size_t first_access(const void* pointer);
// The same for all of it: a kernel may access any.
size_t first_access_of_all();

// Whether `bytes` from `pointer` on are within one allocation; true for memory that HIP did not allocate.
bool is_within(const void* pointer, size_t bytes);

// Device memory is accessible to a kernel or a copy during the lifetime of this object.
class DeviceAccess {
 public:
  DeviceAccess();
  ~DeviceAccess();
  DeviceAccess(const DeviceAccess&) = delete;
  DeviceAccess& operator=(const DeviceAccess&) = delete;
};

// How an address relates to the nearest allocation.
struct Neighbor {
  enum class Relation { kNone, kInside, kPastEnd, kBefore, kFreed } relation;
  size_t distance;  // bytes past the end, before the start, or from the start
  size_t bytes;     // the size of the allocation
  Home home;
};

// Safe in a signal handler: never waits for a lock.
Neighbor neighbor_of(uintptr_t address);

}  // namespace hipcpu
