// The place of an access in the code: the chain of return addresses from the hook upwards, so that the
// author's line is found even if the access itself is in a header. Equal chains share a number.
#include <unordered_map>
#include <vector>

#include "finder.h"

namespace hipcpu::checks {

namespace {

struct Hash {
  size_t operator()(const Chain& chain) const {
    size_t hash = 0;
    for (const uintptr_t pc : chain.pc) hash = hash * 0x9e3779b97f4a7c15ull ^ pc;
    return hash;
  }
};
struct Equal {
  bool operator()(const Chain& a, const Chain& b) const { return __builtin_memcmp(&a, &b, sizeof a) == 0; }
};

struct Sites {
  std::vector<Chain> chains{1};  // number 0: no site
  std::unordered_map<Chain, uint32_t, Hash, Equal> numbers;
  struct {
    Chain chain;
    uint32_t site;
  } recent[1024];
};

Sites& sites() {
  static Sites& only = *new Sites{};
  return only;
}

struct Frame {
  const Frame* up;
  uintptr_t return_address;
};

}  // namespace

uint32_t site_from(const void* from) {
  Chain chain{};
  const auto* frame = static_cast<const Frame*>(from);
  for (uintptr_t& pc : chain.pc) {
    pc = frame->return_address - 1;  // inside the call instruction, not after it
    const auto* up = frame->up;
    if (up <= frame || reinterpret_cast<uintptr_t>(up) - reinterpret_cast<uintptr_t>(frame) > kPrivateBytes) break;
    frame = up;
  }
  Sites& s = sites();
  auto& recent = s.recent[Hash{}(chain) % 1024];
  if (recent.site && Equal{}(recent.chain, chain)) return recent.site;
  const auto [found, fresh] = s.numbers.try_emplace(chain, static_cast<uint32_t>(s.chains.size()));
  if (fresh) s.chains.push_back(chain);
  recent = {chain, found->second};
  return found->second;
}

const Chain& chain_of(uint32_t site) { return sites().chains[site]; }

}  // namespace hipcpu::checks
