// The records for each word that threads share, and the order of its accesses.
#pragma once

#include "finder.h"

namespace hipcpu::checks {

struct Access {
  uint32_t serial;   // of the block; 0: no access
  uint32_t round;    // the number of barriers that the block had passed
  uint32_t meeting;  // the last wave operation of the thread
  uint32_t site;
  uint32_t time;
  uint16_t thread;
  uint8_t bytes;  // which bytes of the word, one bit each
  uint8_t flags;
};

struct Cell {
  Access write;    // the last write
  Access read;     // the first read since, by the running block
  Access another;  // a read by another thread, preferably of another wave
  Access foreign;  // the last access of another block
  uint32_t filled_by;  // the block that wrote `filled`, for shared memory
  uint8_t filled;
};

// Whether atomics (happens_before.cpp) order `access` before what the running thread does now.
bool is_published(const Access& access);
void synchronize(uintptr_t address, unsigned flags);

}  // namespace hipcpu::checks
