// Writes each finding as one line of JSON, unbuffered, so that it is not lost if the program crashes.
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include <hipcpu/hooks.h>

#include "../runtime/text.h"
#include "finder.h"

namespace hipcpu::checks {

namespace {

constexpr int kMostOfAKind = 8;

int file = STDERR_FILENO;

struct Reported {
  std::set<std::tuple<std::string, uint64_t, uint64_t>> places;
  std::map<std::string, int> of_kind;
};

Reported& reported() {
  static Reported& only = *new Reported;
  return only;
}

uint64_t key_of(const Place* place) {
  if (!place) return 0;
  return place->site ? place->site : uint64_t{1} << 32 | static_cast<uint32_t>(place->line);
}

bool is_new(const char* kind, const Place& here, const Place* other) {
  Reported& t = reported();
  if (!t.places.emplace(kind, key_of(&here), key_of(other)).second) return false;
  return ++t.of_kind[kind] <= kMostOfAKind;
}

Coordinates block_of(uint32_t serial) {
  const Coordinates& grid = now.launch->config.grid;
  const uint64_t number = serial - now.first_serial;
  return {static_cast<unsigned>(number % grid.x), static_cast<unsigned>(number / grid.x % grid.y),
          static_cast<unsigned>(number / grid.x / grid.y)};
}

void put(Text& json, const char* key, const Coordinates& at) {
  json << ",\"" << key << "\":[" << at.x << "," << at.y << "," << at.z << "]";
}

void put(Text& json, const char* prefix, const Place& place) {
  json << ",\"" << prefix << "line\":" << static_cast<uint64_t>(place.line) << ",\"" << prefix << "pcs\":[";
  const char* comma = "";
  for (const uintptr_t pc : chain_of(place.site).pc) {
    if (pc < module_base()) continue;
    json << comma << pc - module_base();
    comma = ",";
  }
  json << "]";
  put(json, (std::string(prefix) + "block").c_str(), block_of(place.serial));
  put(json, (std::string(prefix) + "thread").c_str(), now.worker->places[place.thread]);
}

const char* word_for(Certainty certainty) {
  switch (certainty) {
    case Certainty::kError: return "error";
    case Certainty::kWarning: return "warning";
    case Certainty::kSuspect: break;
  }
  return "suspect";
}

}  // namespace

void report_finding(const char* kind, Certainty certainty, const char* detail, const Place& here, const Place* other,
          uintptr_t address) {
  if (!is_new(kind, here, other)) return;
  Text json;
  json << "{\"kind\":\"" << kind << "\",\"severity\":\"" << word_for(certainty) << "\",\"detail\":";
  json.quote(detail) << ",\"kernel\":";
  json.quote(now.launch->kernel) << ",\"launch_line\":" << static_cast<uint64_t>(now.launch->line);
  put(json, "", here);
  if (other) put(json, "other_", *other);
  json << ",\"address\":" << static_cast<uint64_t>(address) << "}\n";
  [[maybe_unused]] const auto written = write(file, json.data(), json.size());
}

}  // namespace hipcpu::checks

extern "C" void hipcpu_findings_to(const char* path) {
  const int opened = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (opened >= 0) hipcpu::checks::file = opened;
}
