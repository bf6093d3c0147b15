// What is remembered of each word that threads share, and what orders one access after another.
#pragma once

#include "finder.h"

namespace hipcpu::checks {

struct Access {
  uint32_t serial;   // of the block; 0: none
  uint32_t round;    // barriers that the block had passed
  uint32_t meeting;  // the thread's last wave operation
  uint32_t site;
  uint32_t time;
  uint16_t thread;
  uint8_t bytes;  // of the word, a bit each
  uint8_t flags;
};

struct Cell {
  Access write;    // the last one
  Access read;     // the first since, in the block that runs
  Access another;  // by another thread, of another wave if there is one
  Access foreign;  // the last of another block
  uint32_t filled_by;  // the block that has written `filled`, for shared memory
  uint8_t filled;
};

// Order made by atomics (order.cpp): whether `access` happened before what the running thread does now.
bool is_published(const Access& access);
void synchronize(uintptr_t address, unsigned flags);

}  // namespace hipcpu::checks
