// hipMalloc and related functions. Each allocation is a separate mapping that ends at a guard page, so that an
// access past its end faults at once. Freed addresses stay unmapped for a while, so that their use faults too.
//
// Fresh memory is zero, because the system clears it. Kernels must not rely on that: memory of a GPU is not zero.
#include "memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <mutex>

#include <hip/hip_runtime_api.h>
#include <hipcpu/hooks.h>
#include <hipcpu/ipc_handle.h>

#include "arena.h"
#include "shared_files.h"
#include "status.h"
#include "stub_gpu.h"

namespace hipcpu {

namespace {

constexpr size_t kPageBytes = 64 * 1024;     // a multiple of the page size on every supported machine
constexpr size_t kFrontBytes = 1 << 20;      // inaccessible before an allocation
constexpr size_t kBackBytes = 16 << 20;      // and after it: a far index must not hit the next one
constexpr size_t kAlignBytes = 16;           // the widest access of a GPU thread
constexpr size_t kHugeBytes = 4 << 20;       // from this size on, huge pages are faster
constexpr size_t kTotalBytes = 192ull << 30;  // of an MI300X
constexpr size_t kNearBytes = kBackBytes;    // an address farther away is unrelated to the allocation
constexpr size_t kKeptFreed = 256;           // freed ranges that stay inaccessible

size_t total_bytes() { return stub::is_on() ? stub::facts().memory_bytes : kTotalBytes; }

size_t round_up(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

struct Heap {
  std::mutex mutex;
  std::map<uintptr_t, Allocation> live;
  std::map<uintptr_t, Allocation> freed;
  std::deque<uintptr_t> freed_order;
  size_t used_bytes = 0;
  bool protects = false;
  unsigned accesses = 0;  // running kernels and copies
  std::atomic<uint64_t> operations{0};  // kernels, copies and fills so far
};

Heap& heap() {
  static Heap& only = *new Heap;
  return only;
}

void set_access(const Allocation& allocation, int protection) {
  set_protection(static_cast<char*>(allocation.mapping) + kFrontBytes,
                 allocation.mapping_bytes - kFrontBytes - kBackBytes, protection);
}

// Only for allocations in use: the others stay inaccessible while device memory is protected.
void set_access(const Heap& h, int protection) {
  for (const auto& [_, allocation] : h.live)
    if (allocation.home == Home::kDevice && allocation.used) set_access(allocation, protection);
}

const std::pair<const uintptr_t, Allocation>* at_or_before(const std::map<uintptr_t, Allocation>& map,
                                                           uintptr_t address) {
  auto after = map.upper_bound(address);
  return after == map.begin() ? nullptr : &*std::prev(after);
}

// The folder of the files that contain exported device memory; empty if none can be exported.
std::string& export_folder() {
  static std::string& only = *new std::string;
  return only;
}

// Where the pages of an allocation come from: fresh memory, or a file.
struct Source {
  int fd = -1;
  uint64_t offset = 0;
};

bool map_pages(char* first, size_t body, const Source& source, int protection) {
  if (source.fd >= 0 && !map_file(first, body, source.fd, source.offset)) return false;
  return set_protection(first, body, protection);
}

// Maps `body` bytes between guard zones and records the allocation at their end. Needs the lock.
hipError_t place(Heap& h, void** pointer, size_t body, const Source& source, Allocation allocation) {
  allocation.mapping_bytes = kFrontBytes + body + kBackBytes;
  // Huge pages begin at the same place in a file and in memory; fresh memory ends with one.
  const size_t first_remainder = source.fd < 0 ? kHugePageBytes - body % kHugePageBytes : source.offset;
  const size_t remainder = (first_remainder + kHugePageBytes - kFrontBytes) % kHugePageBytes;
  allocation.mapping = reserve_addresses(allocation.mapping_bytes, allocation.home == Home::kDevice, remainder);
  if (!allocation.mapping) return hipErrorOutOfMemory;
  char* first = static_cast<char*>(allocation.mapping) + kFrontBytes;
  const bool closed = h.protects && allocation.home == Home::kDevice && h.accesses == 0;
  if (!map_pages(first, body, source, closed ? PROT_NONE : PROT_READ | PROT_WRITE)) {
    release_addresses(allocation.mapping, allocation.mapping_bytes);
    return hipErrorOutOfMemory;
  }
  if (allocation.bytes >= kHugeBytes && source.fd < 0) use_huge_pages(first, body);
  allocation.made_at = h.operations;
  char* begin = first + body - round_up(allocation.bytes, kAlignBytes);
  h.live[reinterpret_cast<uintptr_t>(begin)] = std::move(allocation);
  *pointer = begin;
  return hipSuccess;
}

hipError_t allocate(void** pointer, size_t bytes, Home home, unsigned flags) {
  const stub::Call call;
  if (call.error() != hipSuccess) return call.error();
  if (!pointer) return hipErrorInvalidValue;
  *pointer = nullptr;
  if (bytes == 0) return hipSuccess;
  if (stub::is_on() && home == Home::kDevice && !stub::can_allocate()) return hipErrorOutOfMemory;
  if (stub::is_on()) stub::allocated(bytes);
  Heap& h = heap();
  const std::lock_guard lock(h.mutex);
  if (bytes > total_bytes() - h.used_bytes) return hipErrorOutOfMemory;
  const hipError_t error = place(h, pointer, round_up(bytes, kPageBytes), {}, {bytes, nullptr, 0, home, flags});
  if (error == hipSuccess) h.used_bytes += bytes;
  return error;
}

bool write_all(int fd, const char* from, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t put = write(fd, from + done, bytes - done);
    if (put <= 0) return false;
    done += static_cast<size_t>(put);
  }
  return true;
}

// Makes the addresses inaccessible, and returns the pages to the system; only the addresses stay reserved.
void quarantine(Heap& h, uintptr_t begin, const Allocation& allocation) {
  close_addresses(allocation.mapping, allocation.mapping_bytes);
  h.freed[begin] = allocation;
  h.freed_order.push_back(begin);
  if (h.freed_order.size() <= kKeptFreed) return;
  const auto oldest = h.freed.find(h.freed_order.front());
  release_addresses(oldest->second.mapping, oldest->second.mapping_bytes);
  h.freed.erase(oldest);
  h.freed_order.pop_front();
}

hipError_t release(void* pointer, bool host) {
  const stub::Call call;
  if (call.error() != hipSuccess) return call.error();
  if (!pointer) return hipSuccess;
  Heap& h = heap();
  const std::lock_guard lock(h.mutex);
  const auto entry = h.live.find(reinterpret_cast<uintptr_t>(pointer));
  if (entry == h.live.end() || entry->second.home == Home::kRegistered) return hipErrorInvalidValue;
  if ((entry->second.home == Home::kPinned) != host) return hipErrorInvalidValue;
  if (const auto& file = entry->second.file) {
    if (file->imported) return hipErrorInvalidValue;  // hipIpcCloseMemHandle closes it
    unlink(file->path.c_str());
  }
  h.used_bytes -= entry->second.bytes;
  quarantine(h, entry->first, entry->second);
  h.live.erase(entry);
  return hipSuccess;
}

// The allocation that contains `address`, or the nearest one before or after it.
Neighbor beside(const std::map<uintptr_t, Allocation>& map, uintptr_t address) {
  using Relation = Neighbor::Relation;
  Neighbor nearest = {Relation::kNone, kNearBytes, 0, Home::kDevice};
  if (const auto* before = at_or_before(map, address)) {
    const auto& [begin, a] = *before;
    const size_t offset = address - begin;
    if (offset < a.bytes) return {Relation::kInside, offset, a.bytes, a.home};
    if (offset - a.bytes < nearest.distance) nearest = {Relation::kPastEnd, offset - a.bytes, a.bytes, a.home};
  }
  const auto after = map.upper_bound(address);
  if (after != map.end() && after->first - address < nearest.distance)
    nearest = {Relation::kBefore, after->first - address, after->second.bytes, after->second.home};
  return nearest;
}

}  // namespace

std::vector<AllocationRange> live_allocations() {
  Heap& h = heap();
  const std::lock_guard lock(h.mutex);
  std::vector<AllocationRange> all;
  for (const auto& [begin, allocation] : h.live) all.push_back({begin, allocation});
  return all;
}

bool find_allocation(const void* pointer, AllocationRange* range) {
  Heap& h = heap();
  const std::lock_guard lock(h.mutex);
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const auto* before = at_or_before(h.live, address);
  if (!before || address - before->first > before->second.bytes) return false;
  *range = {before->first, before->second};
  return true;
}

hipError_t open_shared(void** pointer, size_t bytes, const SharedFile& file) {
  const int fd = open(file.path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return hipErrorMapFailed;
  const size_t body = round_up(bytes, kIpcPageBytes);
  struct stat status {};
  const bool fits = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && bytes <= total_bytes() &&
                    static_cast<uint64_t>(status.st_size) >= file.offset &&
                    static_cast<uint64_t>(status.st_size) - file.offset >= body;
  hipError_t error = hipErrorMapFailed;
  if (fits) {
    Heap& h = heap();
    const std::lock_guard lock(h.mutex);
    auto shared = std::make_shared<const SharedFile>(file);
    error = place(h, pointer, body, {fd, file.offset}, {bytes, nullptr, 0, Home::kDevice, 0, shared});
  }
  close(fd);
  return error;
}

hipError_t close_shared(void* pointer) {
  Heap& h = heap();
  const std::lock_guard lock(h.mutex);
  const auto entry = h.live.find(reinterpret_cast<uintptr_t>(pointer));
  if (entry == h.live.end() || !entry->second.file || !entry->second.file->imported) return hipErrorInvalidValue;
  quarantine(h, entry->first, entry->second);
  h.live.erase(entry);
  return hipSuccess;
}

// Copies the content of the memory to a file, and maps the file instead.
hipError_t export_shared(void* pointer) {
  Heap& h = heap();
  const std::lock_guard lock(h.mutex);
  const auto entry = h.live.find(reinterpret_cast<uintptr_t>(pointer));
  if (entry == h.live.end()) return hipErrorInvalidValue;
  Allocation& allocation = entry->second;
  if (allocation.file) return allocation.file->imported ? hipErrorNotSupported : hipSuccess;
  if (allocation.home != Home::kDevice || export_folder().empty()) return hipErrorNotSupported;
  const size_t body = round_up(allocation.bytes, kIpcPageBytes);
  std::string path;
  const int fd = create_shared_file(export_folder(), body, &path);
  if (fd < 0) return hipErrorOutOfMemory;
  char* const end = static_cast<char*>(allocation.mapping) + allocation.mapping_bytes - kBackBytes;
  char* const first = end - body;
  const bool closed = h.protects && h.accesses == 0;
  if (closed) set_protection(first, body, PROT_READ | PROT_WRITE);
  // Memory that nothing has accessed since it was allocated is zero, as the file is.
  const bool copied = allocation.made_at == h.operations || write_all(fd, first, body);
  const bool mapped = copied && map_file(first, body, fd, 0) &&
                      set_protection(first, body, closed ? PROT_NONE : PROT_READ | PROT_WRITE);
  close(fd);
  if (!mapped) {
    unlink(path.c_str());
    return hipErrorOutOfMemory;
  }
  allocation.file = std::make_shared<const SharedFile>(SharedFile{path, 0, false});
  return hipSuccess;
}

void export_to(const std::string& folder) {
  Heap& h = heap();
  const std::lock_guard lock(h.mutex);
  export_folder() = folder;
}

size_t first_access(const void* pointer) {
  Heap& h = heap();
  const std::lock_guard lock(h.mutex);
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  auto after = h.live.upper_bound(address);
  if (after == h.live.begin()) return 0;
  auto& [begin, allocation] = *std::prev(after);
  const bool fresh = address - begin < allocation.bytes && allocation.home == Home::kDevice && allocation.fresh;
  if (fresh) allocation.fresh = false;
  return fresh ? allocation.bytes : 0;
}

size_t first_access_of_all() {
  Heap& h = heap();
  const std::lock_guard lock(h.mutex);
  size_t bytes = 0;
  for (auto& [_, allocation] : h.live) {
    if (allocation.home == Home::kDevice && allocation.fresh) bytes += allocation.bytes;
    allocation.fresh = false;
  }
  return bytes;
}

bool is_within(const void* pointer, size_t bytes) {
  AllocationRange range;
  if (!find_allocation(pointer, &range)) return true;
  const size_t offset = reinterpret_cast<uintptr_t>(pointer) - range.begin;
  return bytes <= range.allocation.bytes - offset;
}

Neighbor neighbor_of(uintptr_t address) {
  Heap& h = heap();
  const std::unique_lock lock(h.mutex, std::try_to_lock);
  if (!lock) return {Neighbor::Relation::kNone, 0, 0, Home::kDevice};
  Neighbor freed = beside(h.freed, address);
  if (freed.relation == Neighbor::Relation::kInside) {
    freed.relation = Neighbor::Relation::kFreed;
    return freed;
  }
  return beside(h.live, address);
}

DeviceAccess::DeviceAccess() {
  Heap& h = heap();
  h.operations.fetch_add(1, std::memory_order_relaxed);
  if (!h.protects) return;
  const std::lock_guard lock(h.mutex);
  if (h.accesses++ == 0) set_access(h, PROT_READ | PROT_WRITE);
}

DeviceAccess::~DeviceAccess() {
  Heap& h = heap();
  if (!h.protects) return;
  const std::lock_guard lock(h.mutex);
  if (--h.accesses == 0) set_access(h, PROT_NONE);
}

}  // namespace hipcpu

using namespace hipcpu;

extern "C" {

void hipcpu_protect_device_memory(int on) {
  const stub::Call call(stub::Caller::kHook);
  Heap& h = heap();
  const std::lock_guard lock(h.mutex);
  h.protects = on != 0;
  for (const auto& [_, allocation] : h.live)
    if (allocation.home == Home::kDevice) set_access(allocation, on ? PROT_NONE : PROT_READ | PROT_WRITE);
}

void hipcpu_use_only(void* const* pointers, size_t count) {
  const stub::Call call(stub::Caller::kHook);
  Heap& h = heap();
  const std::lock_guard lock(h.mutex);
  for (auto& [_, allocation] : h.live) allocation.used = count == 0;
  for (size_t i = 0; i < count; ++i) {
    const auto entry = h.live.find(reinterpret_cast<uintptr_t>(pointers[i]));
    if (entry != h.live.end()) entry->second.used = true;
  }
}

hipError_t hipMalloc(void** pointer, size_t bytes) {
  return set_last_error(allocate(pointer, bytes, Home::kDevice, 0));
}

hipError_t hipMallocAsync(void** pointer, size_t bytes, hipStream_t) { return hipMalloc(pointer, bytes); }

hipError_t hipMallocManaged(void** pointer, size_t bytes, unsigned flags) {
  if (flags != hipMemAttachGlobal && flags != hipMemAttachHost) return set_last_error(hipErrorInvalidValue);
  return set_last_error(allocate(pointer, bytes, Home::kManaged, flags));
}

hipError_t hipHostMalloc(void** pointer, size_t bytes, unsigned flags) {
  return set_last_error(allocate(pointer, bytes, Home::kPinned, flags));
}

hipError_t hipMallocHost(void** pointer, size_t bytes) { return hipHostMalloc(pointer, bytes, 0); }

hipError_t hipMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  constexpr size_t kPitchBytes = 256;
  if (!pitch) return set_last_error(hipErrorInvalidValue);
  *pitch = round_up(width, kPitchBytes);
  return hipMalloc(pointer, *pitch * height);
}

hipError_t hipFree(void* pointer) { return set_last_error(release(pointer, false)); }
hipError_t hipFreeAsync(void* pointer, hipStream_t) { return hipFree(pointer); }
hipError_t hipHostFree(void* pointer) { return set_last_error(release(pointer, true)); }
hipError_t hipFreeHost(void* pointer) { return hipHostFree(pointer); }

hipError_t hipHostRegister(void* pointer, size_t bytes, unsigned flags) {
  if (!pointer || bytes == 0) return set_last_error(hipErrorInvalidValue);
  Heap& h = heap();
  const std::lock_guard lock(h.mutex);
  const auto [_, fresh] =
      h.live.try_emplace(reinterpret_cast<uintptr_t>(pointer), Allocation{bytes, nullptr, 0, Home::kRegistered, flags});
  return set_last_error(fresh ? hipSuccess : hipErrorHostMemoryAlreadyRegistered);
}

hipError_t hipHostUnregister(void* pointer) {
  Heap& h = heap();
  const std::lock_guard lock(h.mutex);
  const auto entry = h.live.find(reinterpret_cast<uintptr_t>(pointer));
  if (entry == h.live.end() || entry->second.home != Home::kRegistered)
    return set_last_error(hipErrorHostMemoryNotRegistered);
  h.live.erase(entry);
  return hipSuccess;
}

hipError_t hipHostGetDevicePointer(void** device, void* host, unsigned) {
  AllocationRange range;
  if (!device || !find_allocation(host, &range) || range.allocation.home == Home::kDevice)
    return set_last_error(hipErrorInvalidValue);
  *device = host;
  return hipSuccess;
}

hipError_t hipHostGetFlags(unsigned* flags, void* host) {
  AllocationRange range;
  if (!flags || !find_allocation(host, &range)) return set_last_error(hipErrorInvalidValue);
  *flags = range.allocation.flags;
  return hipSuccess;
}

hipError_t hipMemGetInfo(size_t* free, size_t* total) {
  if (!free || !total) return set_last_error(hipErrorInvalidValue);
  Heap& h = heap();
  const std::lock_guard lock(h.mutex);
  *total = total_bytes();
  *free = stub::is_on() && !stub::can_allocate() ? 0 : total_bytes() - h.used_bytes;
  return hipSuccess;
}

hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* pointer) {
  if (!attributes || !pointer) return set_last_error(hipErrorInvalidValue);
  AllocationRange range;
  *attributes = {};
  if (!find_allocation(pointer, &range)) return hipSuccess;  // hipMemoryTypeUnregistered
  const Home home = range.allocation.home;
  attributes->type = home == Home::kDevice    ? hipMemoryTypeDevice
                     : home == Home::kManaged ? hipMemoryTypeManaged
                                              : hipMemoryTypeHost;
  attributes->devicePointer = const_cast<void*>(pointer);
  attributes->hostPointer = home == Home::kDevice ? nullptr : const_cast<void*>(pointer);
  attributes->isManaged = home == Home::kManaged;
  attributes->allocationFlags = range.allocation.flags;
  return hipSuccess;
}

hipError_t hipMemPrefetchAsync(const void* pointer, size_t bytes, int, hipStream_t) {
  return set_last_error(pointer && is_within(pointer, bytes) ? hipSuccess : hipErrorInvalidValue);
}

hipError_t hipMemAdvise(const void* pointer, size_t bytes, hipMemoryAdvise, int) {
  return set_last_error(pointer && is_within(pointer, bytes) ? hipSuccess : hipErrorInvalidValue);
}
}
