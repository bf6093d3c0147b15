#include "target.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <hipcpu/core.h>

namespace hipcpu {

namespace {

Target read_target() {
  Target target;
  const char* text = std::getenv("HIPCPU_GPU");
  if (text && std::sscanf(text, "%63s %31s %zu %zu", target.name, target.arch, &target.memory_bytes,
                          &target.shared_bytes) != 4)
    target = {};
  target.shared_bytes = std::min<size_t>(target.shared_bytes, kSharedBytes);
  return target;
}

}  // namespace

const Target& target() {
  static const Target value = read_target();
  return value;
}

}  // namespace hipcpu
