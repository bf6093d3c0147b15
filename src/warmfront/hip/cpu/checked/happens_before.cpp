// The happens-before order that atomics create. A block's writes before an atomic operation happen before the
// accesses of blocks after a later operation on the same address, as in a sum by the last block. The accesses
// of a thread before it releases a lock happen before those of the thread that acquires it.
#include <unordered_map>
#include <vector>

#include "shadow.h"

namespace hipcpu::checks {

namespace {

struct Release {
  uint32_t who;  // the serial number of a block, or a thread
  uint32_t time;
};

struct SyncHistory {
  std::vector<Release> blocks;
  std::vector<Release> threads;  // threads of the running block
  uint32_t acquired_by = 0;      // the block that has acquired `blocks`
  uint32_t threads_of = 0;       // the block of `threads`
};

struct Order {
  std::unordered_map<uintptr_t, SyncHistory> addresses;
  // For each block, the time until which its accesses happen before those of the running block.
  std::unordered_map<uint32_t, uint32_t> known_blocks;
  // The same for threads of one block, by (observer, thread).
  std::unordered_map<uint64_t, uint32_t> known_threads;
};

Order& order() {
  static Order& only = *new Order;
  return only;
}

void note(std::vector<Release>& releases, uint32_t who) {
  for (Release& release : releases)
    if (release.who == who) {
      release.time = now.time;
      return;
    }
  releases.push_back({who, now.time});
}

void synchronize_blocks(SyncHistory& place) {
  if (place.acquired_by != now.serial) {
    place.acquired_by = now.serial;
    for (const Release& release : place.blocks) {
      uint32_t& known = order().known_blocks[release.who];
      known = std::max(known, release.time);
    }
  }
  if (!place.blocks.empty() && place.blocks.back().who == now.serial)
    place.blocks.back().time = now.time;
  else
    place.blocks.push_back({now.serial, now.time});
}

void synchronize_threads(SyncHistory& place) {
  if (place.threads_of != now.serial) {
    place.threads.clear();
    place.threads_of = now.serial;
  }
  for (const Release& release : place.threads)
    order().known_threads[uint64_t{thread()} << 32 | release.who] = release.time;
  note(place.threads, thread());
}

}  // namespace

void synchronize(uintptr_t address, unsigned flags) {
  SyncHistory& place = order().addresses[address];
  synchronize_blocks(place);
  if (flags & kLock) synchronize_threads(place);
}

bool is_published(const Access& access) {
  const Order& o = order();
  if (access.serial != now.serial) {
    const auto known = o.known_blocks.find(access.serial);
    return known != o.known_blocks.end() && known->second >= access.time;
  }
  const auto known = o.known_threads.find(uint64_t{thread()} << 32 | access.thread);
  return known != o.known_threads.end() && known->second >= access.time;
}

void forget_order() {
  order().addresses.clear();
  forget_block_order();
}

void forget_block_order() {
  order().known_blocks.clear();
  order().known_threads.clear();
}

}  // namespace hipcpu::checks
