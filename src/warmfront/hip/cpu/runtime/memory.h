// Memory of the device: who owns an address, and when it may be touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hipcpu {

enum class Home : uint8_t { kDevice, kManaged, kPinned, kRegistered };

struct Allocation {
  size_t bytes;           // as asked for
  void* mapping;          // with the guard pages; none for registered host memory
  size_t mapping_bytes;
  Home home;
  unsigned flags;
};

struct Found {
  uintptr_t begin;
  Allocation allocation;
};

// Every allocation that has not been freed, by address.
std::vector<Found> live_allocations();

// The allocation that `pointer` points into or to the end of.
bool find_allocation(const void* pointer, Found* found);

// Whether `bytes` from `pointer` on stay within their allocation; true for memory that is not HIP's.
bool is_within(const void* pointer, size_t bytes);

// While one lives, a kernel or a copy may touch device memory.
class DeviceAccess {
 public:
  DeviceAccess();
  ~DeviceAccess();
  DeviceAccess(const DeviceAccess&) = delete;
  DeviceAccess& operator=(const DeviceAccess&) = delete;
};

// What an address has to do with the nearest allocation.
struct Neighbour {
  enum class Relation { kNone, kInside, kPastEnd, kBefore, kFreed } relation;
  size_t distance;  // bytes past the end, before the beginning, or from it
  size_t bytes;     // the allocation's size
  Home home;
};

// For a signal handler: takes no lock that it would have to wait for.
Neighbour neighbour_of(uintptr_t address);

}  // namespace hipcpu
