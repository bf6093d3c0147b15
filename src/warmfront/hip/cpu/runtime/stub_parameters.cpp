#include "stub_parameters.h"

#include <cstdlib>
#include <functional>

namespace hipcpu::stub {

namespace {

constexpr char kKernelPrefix[] = "kernel.";
constexpr double kNsPerUs = 1e3;

bool parse_fault(const std::string& text, Fault* fault) {
  static const std::map<std::string, Fault> kNames = {
      {"no_device", Fault::kNoDevice}, {"memory_fault", Fault::kMemoryFault}, {"hang", Fault::kHang},
      {"reset", Fault::kReset},        {"off_the_bus", Fault::kOffTheBus},    {"memory_full", Fault::kMemoryFull},
      {"ecc", Fault::kEcc},            {"stuck", Fault::kStuck},              {"", Fault::kNone},
  };
  const auto found = kNames.find(text);
  if (found == kNames.end()) return false;
  *fault = found->second;
  return true;
}

int64_t ns_of_us(const std::string& us) { return static_cast<int64_t>(std::strtod(us.c_str(), nullptr) * kNsPerUs); }

using Setter = std::function<void(Parameters&, const std::string&)>;

Setter number(double Parameters::* field) {
  return [field](Parameters& p, const std::string& text) { p.*field = std::strtod(text.c_str(), nullptr); };
}

Setter microseconds(int64_t Parameters::* field) {
  return [field](Parameters& p, const std::string& text) { p.*field = ns_of_us(text); };
}

template <class T>
Setter whole(T Parameters::* field) {
  return [field](Parameters& p, const std::string& text) {
    p.*field = static_cast<T>(std::strtoull(text.c_str(), nullptr, 0));
  };
}

Setter text(std::string Parameters::* field) {
  return [field](Parameters& p, const std::string& value) { p.*field = value; };
}

const std::map<std::string, Setter>& setters() {
  static const std::map<std::string, Setter> only = {
      {"arch", text(&Parameters::arch)},
      {"code_arch", text(&Parameters::code_arch)},
      {"name", text(&Parameters::name)},
      {"memory_bytes", whole(&Parameters::memory_bytes)},
      {"compute_units", whole(&Parameters::compute_units)},
      {"devices", whole(&Parameters::devices)},
      {"copy_gbps", number(&Parameters::copy_gbps)},
      {"pinned_gbps", number(&Parameters::pinned_gbps)},
      {"hbm_gbps", number(&Parameters::hbm_gbps)},
      {"first_touch_gbps", number(&Parameters::first_touch_gbps)},
      {"copy_us", microseconds(&Parameters::copy_ns)},
      {"launch_us", microseconds(&Parameters::launch_ns)},
      {"sync_us", microseconds(&Parameters::sync_ns)},
      {"event_us", microseconds(&Parameters::event_ns)},
      {"call_us", microseconds(&Parameters::call_ns)},
      {"malloc_us", microseconds(&Parameters::malloc_ns)},
      {"host_allowance_us", microseconds(&Parameters::host_allowance_ns)},
      {"idle_clock", number(&Parameters::idle_clock)},
      {"idle_us", microseconds(&Parameters::idle_ns)},
      {"ramp_us", microseconds(&Parameters::ramp_ns)},
      {"kernel_us", microseconds(&Parameters::kernel_ns)},
      {"bytes_per_thread", whole(&Parameters::bytes_per_thread)},
      {"fault_launch", whole(&Parameters::fault_launch)},
      {"fault_box", whole(&Parameters::fault_box)},
      {"reset_boxes", whole(&Parameters::reset_boxes)},
      {"fault_address", whole(&Parameters::fault_address)},
  };
  return only;
}

bool set_parameter(Parameters& parameters, const std::string& name, const std::string& value) {
  if (name == "fault") return parse_fault(value, &parameters.fault);
  if (name.rfind(kKernelPrefix, 0) == 0) {
    parameters.kernels_ns[name.substr(sizeof kKernelPrefix - 1)] = ns_of_us(value);
    return true;
  }
  const auto setter = setters().find(name);
  if (setter == setters().end()) return false;
  setter->second(parameters, value);
  return true;
}

}  // namespace

bool parse_parameters(const char* text, Parameters* parameters) {
  const std::string all = text;
  for (size_t at = 0; at < all.size();) {
    const size_t end = std::min(all.find(',', at), all.size());
    const std::string pair = all.substr(at, end - at);
    const size_t equals = pair.find('=');
    if (equals == std::string::npos) return false;
    if (!set_parameter(*parameters, pair.substr(0, equals), pair.substr(equals + 1))) return false;
    at = end + 1;
  }
  return parameters->devices > 0 && parameters->copy_gbps > 0 && parameters->pinned_gbps > 0 &&
         parameters->hbm_gbps > 0;
}

}  // namespace hipcpu::stub
