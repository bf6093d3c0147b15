// Device memory: which allocation an address belongs to, and when it can be accessed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hipcpu {

enum class Home : uint8_t { kDevice, kManaged, kPinned, kRegistered };

struct Allocation {
  size_t bytes;           // the requested size
  void* mapping;          // includes the guard pages; null for registered host memory
  size_t mapping_bytes;
  Home home;
  unsigned flags;
};

struct AllocationRange {
  uintptr_t begin;
  Allocation allocation;
};

// Every allocation that has not been freed, sorted by address.
std::vector<AllocationRange> live_allocations();

// Finds the allocation that `pointer` points into, or to the end of.
bool find_allocation(const void* pointer, AllocationRange* range);

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
struct Neighbour {
  enum class Relation { kNone, kInside, kPastEnd, kBefore, kFreed } relation;
  size_t distance;  // bytes past the end, before the start, or from the start
  size_t bytes;     // the size of the allocation
  Home home;
};

// Safe in a signal handler: never waits for a lock.
Neighbour neighbour_of(uintptr_t address);

}  // namespace hipcpu
