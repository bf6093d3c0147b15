// Bank conflicts of 16-byte accesses to LDS.
//
// LDS has 32 banks of four bytes, so it serves eight lanes with 16 bytes each at a time. Which eight lanes these are is
// not documented, so two groupings are compared and the better one counts: consecutive lanes, and the groups that AMD
// has published for ds_read_b128 (CK-Tile).
#include <hipcpu/checked.h>

#include <algorithm>
#include <map>
#include <set>

#include "../runtime/text.h"
#include "finder.h"

namespace hipcpu::checks {

namespace {

constexpr uint32_t kBlocks = 4;       // blocks of a launch that are examined
constexpr unsigned kWorthReporting = 4;
constexpr unsigned kLanesAtOnce = 8;
constexpr unsigned kGroups = kWaveSize / kLanesAtOnce;

struct WideAccess {
  uintptr_t address[kWaveSize];  // the address of each lane's first access; 0 if there is none
};

// By site and wave.
std::map<std::pair<uint32_t, uint32_t>, WideAccess>& accesses() {
  static auto& only = *new std::map<std::pair<uint32_t, uint32_t>, WideAccess>;
  return only;
}

unsigned consecutive(unsigned lane) { return lane / kLanesAtOnce; }
// Lanes 0-3 with 20-23, 4-7 with 16-19, 8-11 with 28-31, 12-15 with 24-27; the upper half likewise.
unsigned published(unsigned lane) {
  const unsigned four = lane % 32 / 4;
  return lane / 32 * 4 + (four < 4 ? four : (four ^ 1) - 4);
}

// The number of rows of banks that the worst group needs one after another.
template <class GroupOf>
unsigned conflict_of(const WideAccess& access, GroupOf group_of) {
  std::set<uintptr_t> rows[kGroups][kLanesAtOnce];
  unsigned worst = 0;
  for (unsigned lane = 0; lane < kWaveSize; ++lane) {
    const uintptr_t row = access.address[lane] / 16;
    auto& banks = rows[group_of(lane)][row % kLanesAtOnce];
    banks.insert(row);
    worst = std::max(worst, static_cast<unsigned>(banks.size()));
  }
  return worst;
}

}  // namespace

void note_wide_access(uintptr_t address, uint32_t site) {
  if (now.serial - now.first_serial >= kBlocks || !site) return;
  uintptr_t& first = accesses()[{site, thread() / kWaveSize}].address[thread() % kWaveSize];
  if (!first) first = address;
}

void conclude_wide_accesses() {
  for (const auto& [key, access] : accesses()) {
    if (std::find(access.address, access.address + kWaveSize, 0) != access.address + kWaveSize) continue;
    const unsigned worst = std::min(conflict_of(access, consecutive), conflict_of(access, published));
    if (worst < kWorthReporting) continue;
    Text detail;
    detail << uint64_t{worst} << " of 8 lanes access different rows of the same four banks, one after another: this takes "
           << uint64_t{worst} << " times as long";
    report_finding("bank-conflict", Certainty::kWarning, detail.data(), {key.second * kWaveSize, now.serial, key.first, 0});
  }
  accesses().clear();
}

}  // namespace hipcpu::checks

extern "C" void hipcpu_checked_wide_access(const void* address) {
  using namespace hipcpu::checks;
  if (watching) note_wide_access(reinterpret_cast<uintptr_t>(address), site_from(__builtin_frame_address(0)));
}
