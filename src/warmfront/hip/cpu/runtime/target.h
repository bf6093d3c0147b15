// The GPU whose limits and properties the runtime has.
#pragma once

#include <cstddef>

namespace hipcpu {

struct Target {
  char name[64] = "MI300X";
  char arch[32] = "gfx942";
  size_t memory_bytes = 192ull << 30;
  size_t shared_bytes = 64 * 1024;  // per block
};

// An MI300X, unless the environment variable HIPCPU_GPU names another GPU: its name, architecture, memory and shared memory,
// separated by spaces.
const Target& target();

}  // namespace hipcpu
