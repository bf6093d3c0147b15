// Races, and shared memory that is read before it is written.
//
// Two accesses to a word by different threads are a race unless something orders them: a barrier for the threads
// of a block, a wave operation for the lanes of a wave, an atomic that both use, or the end of a launch.
#include "shadow.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "../runtime/faults.h"
#include "../runtime/text.h"

namespace hipcpu::checks {

namespace {

constexpr unsigned char kGarbage = 0xfa;  // makes any sum visibly wrong, in every type

struct Shadow {
  Cell* cells;
  size_t count;
};

Cell* cells_for(const Region& region) {
  static auto& shadows = *new std::map<uintptr_t, Shadow>;
  const uintptr_t first = region.begin & ~uintptr_t{3};
  const size_t count = (region.end - first + 3) / 4 + 4;
  Shadow& shadow = shadows[first];
  if (shadow.count >= count) return shadow.cells;
  void* memory = mmap(nullptr, count * sizeof(Cell), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) die("out of memory for the bug finder");
  if (shadow.cells) munmap(shadow.cells, shadow.count * sizeof(Cell));
  shadow = {static_cast<Cell*>(memory), count};
  return shadow.cells;
}

bool is_same_wave(const Access& access) {
  return access.serial == now.serial && access.thread / kWaveSize == thread() / kWaveSize;
}

bool is_before(const Access& access, Space space) {
  if (access.serial < now.first_serial) return true;  // an earlier launch, or no access
  if (space == Space::kShared && access.serial != now.serial) return true;  // each block has its own shared memory
  if (access.serial == now.serial) {
    if (access.thread == thread() || access.round != now.worker->round) return true;
    if (is_same_wave(access) && last_meeting(thread()) > access.meeting && last_meeting(access.thread) > access.meeting)
      return true;
  }
  return is_published(access);
}

// A write that races with another write: whether both values are equal is known only after the second one.
struct Unsettled {
  bool waits = false;
  uintptr_t address;
  size_t bytes;
  unsigned char before[16];
  Space space;
  Access other;
  Place here;
};
Unsettled unsettled;

void tell_race(Space space, const Access& other, bool other_writes, const Place& here, bool writes, bool same_value,
               uintptr_t address) {
  const Place there{other.thread, other.serial, other.site, 0};
  const bool one_wave = other.serial == now.serial && other.thread / kWaveSize == here.thread / kWaveSize;
  const bool in_shared = space == Space::kShared;
  Text detail;
  detail << (in_shared ? "shared" : "global") << " memory: one thread " << (other_writes ? "writes" : "reads")
         << " and another " << (writes ? "writes" : "reads") << " the same word without synchronization";
  if (same_value) detail << "; both write the same value, which is usually harmless";
  if (!same_value && one_wave) detail << "; they are lanes of one wave, which need not execute in lockstep";
  const char* kind = same_value ? "same-value-race" : one_wave && in_shared ? "wave-synchronous" : "data-race";
  report_finding(kind, Certainty::kWarning, detail.data(), here, &there, address);
}

// A plain read of a word that others write by atomics. It is harmless if the reader continues with a
// compare-and-swap, which fails if the value was stale, so the decision waits for the next access.
struct Doubt {
  bool waits = false;
  uintptr_t address;
  Space space;
  Access other;
  Place here;
};
Doubt doubt;

bool is_swap(unsigned flags) { return flags & kAtomic && flags & kLock && flags & kWrite && !(flags & kStore); }

void resolve_doubt(uintptr_t address, unsigned flags) {
  if (!doubt.waits) return;
  doubt.waits = false;
  if (doubt.address == address && doubt.here.thread == thread() && is_swap(flags)) return;
  tell_race(doubt.space, doubt.other, true, doubt.here, false, false, doubt.address);
}

void look_at_write(Region& region, const Access& write, const Access& mine, uintptr_t address, size_t bytes) {
  const bool both_atomic = write.flags & mine.flags & kAtomic;
  const bool both_volatile = region.space != Space::kShared && (write.flags & mine.flags & kVolatile);
  if (!(write.bytes & mine.bytes) || both_atomic || both_volatile || is_before(write, region.space)) return;
  const Place here{thread(), now.serial, mine.site, 0};
  if (is_swap(write.flags) && mine.flags == kRead) {
    if (!doubt.waits) doubt = {true, address, region.space, write, here};
    return;
  }
  if (!(mine.flags & kWrite) || bytes > sizeof unsettled.before || (mine.flags & kAtomic))
    return tell_race(region.space, write, true, here, mine.flags & kWrite, false, address);
  if (unsettled.waits) return;
  unsettled = {true, address, bytes, {}, region.space, write, here};
  std::memcpy(unsettled.before, reinterpret_cast<const void*>(address), bytes);
}

void look_at_read(Region& region, const Access& read, const Access& mine, uintptr_t address) {
  const bool both_atomic = read.flags & mine.flags & kAtomic;
  const bool both_volatile = region.space != Space::kShared && (read.flags & mine.flags & kVolatile);
  if (!(read.bytes & mine.bytes) || both_atomic || both_volatile || is_before(read, region.space)) return;
  tell_race(region.space, read, false, {thread(), now.serial, mine.site, 0}, true, false, address);
}

void remember_read(Cell& cell, const Access& mine) {
  if (cell.read.serial != now.serial || cell.read.round != mine.round) {
    if (cell.read.serial != now.serial && cell.read.serial >= now.first_serial) cell.foreign = cell.read;
    cell.read = mine;
    cell.another = {};
  } else if (cell.read.thread != mine.thread) {
    const bool new_wave = cell.read.thread / kWaveSize != mine.thread / kWaveSize;
    if (!cell.another.serial || new_wave || cell.another.thread / kWaveSize == cell.read.thread / kWaveSize)
      cell.another = mine;
  } else {
    cell.read.bytes |= mine.bytes;
    cell.read.meeting = mine.meeting;
    cell.read.time = mine.time;
  }
}

bool is_filled(const Cell& cell, unsigned bytes) { return cell.filled_by == now.serial && (cell.filled & bytes); }

void fill(Cell& cell, unsigned bytes) {
  if (cell.filled_by != now.serial) cell.filled = 0;
  cell.filled_by = now.serial;
  cell.filled |= bytes;
}

void touch_word(Region& region, Cell& cell, const Access& mine, uintptr_t address, size_t bytes) {
  const bool writes = mine.flags & kWrite;
  if (is_swap(mine.flags) && cell.read.serial == now.serial && cell.read.thread == thread()) cell.read.flags |= kAtomic;
  look_at_write(region, cell.write, mine, address, bytes);
  if (writes) {
    look_at_read(region, cell.read, mine, address);
    look_at_read(region, cell.another, mine, address);
    look_at_read(region, cell.foreign, mine, address);
    cell.write = mine;
    if (region.space == Space::kShared) fill(cell, mine.bytes);
  } else {
    remember_read(cell, mine);
  }
}

// Calls `visit` for each word of the range, with the bits of the bytes that are accessed.
template <class Visit>
void for_words(const Region& region, uintptr_t address, size_t bytes, Visit visit) {
  const uintptr_t first = region.begin & ~uintptr_t{3};
  for (uintptr_t at = address; at < address + bytes;) {
    const uintptr_t word = at & ~uintptr_t{3};
    const uintptr_t end = std::min(word + 4, address + bytes);
    const auto bits = static_cast<uint8_t>(((1u << (end - at)) - 1) << (at - word));
    visit(region.cells[(word - first) / 4], bits);
    at = end;
  }
}

// On a GPU, uninitialized shared memory has the data of an earlier block; here it is filled with garbage.
void look_for_unwritten(const Region& region, uintptr_t address, size_t bytes, uint32_t site) {
  bool any_filled = false;
  for_words(region, address, bytes, [&](const Cell& cell, uint8_t bits) { any_filled |= is_filled(cell, bits); });
  if (any_filled) return;
  Text detail;
  detail << "reads shared memory that no thread of the block has written";
  if (region.name) detail << ": `" << region.name << "`, byte " << uint64_t{address - region.begin};
  report_finding("uninitialised-lds", Certainty::kWarning, detail.data(), {thread(), now.serial, site, 0}, nullptr, address);
  std::memset(reinterpret_cast<void*>(address), kGarbage, bytes);
  for_words(region, address, bytes, [](Cell& cell, uint8_t bits) { fill(cell, bits); });
}

// The judge reads the source and knows whether the variable is on the device.
void tell_of_variable(const Region& region, uint32_t site) {
  Text detail;
  detail << "`" << region.name << "` is a host variable, which a GPU cannot access";
  report_finding("host-variable", Certainty::kSuspect, detail.data(), {thread(), now.serial, site, 0}, nullptr, region.begin);
}

}  // namespace

void touch(Region& region, uintptr_t address, size_t bytes, unsigned flags, uint32_t site) {
  resolve_doubt(address, flags);
  if (!region.cells) {
    region.cells = cells_for(region);
    if (region.space == Space::kVariable) tell_of_variable(region, site);
  }
  const bool reads = !(flags & kWrite) || ((flags & kAtomic) && !(flags & kStore));
  if (region.space == Space::kShared && reads) look_for_unwritten(region, address, bytes, site);
  ++now.time;
  const Access mine{now.serial, now.worker->round, last_meeting(thread()), site, now.time,
                    static_cast<uint16_t>(thread()), 0, static_cast<uint8_t>(flags)};
  for_words(region, address, bytes, [&](Cell& cell, uint8_t bits) {
    Access part = mine;
    part.bytes = bits;
    touch_word(region, cell, part, address, bytes);
  });
  const bool flag_like = flags & kVolatile && region.space != Space::kShared;
  if (flags & kAtomic || flag_like) synchronize(address, flag_like ? flags | kLock : flags);
}

void conclude() {
  settle();
  resolve_doubt(0, kRead);
}

void settle() {
  if (!unsettled.waits) return;
  unsettled.waits = false;
  const auto* after = reinterpret_cast<const void*>(unsettled.address);
  const bool same = std::memcmp(unsettled.before, after, unsettled.bytes) == 0;
  tell_race(unsettled.space, unsettled.other, true, unsettled.here, true, same, unsettled.address);
}

}  // namespace hipcpu::checks
