// The addresses of device memory: one range, reserved at the start, whose pages only this runtime can change once it
// is sealed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hipcpu {

constexpr size_t kHugePageBytes = 2 << 20;

// Reserves inaccessible addresses, in the arena if they are for device memory and it has any left; there, `remainder`
// is that of the first address divided by the size of a huge page. Null if there are none. Not thread-safe, like the
// other functions here: the heap's lock protects the arena.
void* reserve_addresses(size_t bytes, bool for_device, size_t remainder);

// Returns them, with their pages.
void release_addresses(void* begin, size_t bytes);

// Returns the pages of a range and makes it inaccessible, but keeps it reserved.
void close_addresses(void* begin, size_t bytes);

// Changing the protection of a huge page costs as much as that of a small one, which is 512 times smaller. For memory
// that has no pages yet; it does not have to succeed.
void use_huge_pages(void* begin, size_t bytes);

// mprotect and mmap, the latter to a place within reserved addresses; whether that succeeded.
bool set_protection(void* begin, size_t bytes, int protection);
bool map_file(void* begin, size_t bytes, int fd, uint64_t offset);

}  // namespace hipcpu
