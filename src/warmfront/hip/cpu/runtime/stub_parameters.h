// The parameters of the stub GPU, as warmfront/hip/stub/stub_spec.py writes them: name=value, separated by commas.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace hipcpu::stub {

enum class Fault : uint8_t { kNone, kNoDevice, kMemoryFault, kHang, kReset, kOffTheBus, kMemoryFull, kEcc, kStuck };

struct Parameters {
  std::string arch;       // of the device
  std::string code_arch;  // that kernels are compiled for
  std::string name;
  size_t memory_bytes = 0;
  int compute_units = 0;
  int devices = 1;

  double copy_gbps = 10;    // between host and device, from and to pageable memory
  double pinned_gbps = 10;  // the same, pinned memory
  double hbm_gbps = 4000;   // memory of the device; a copy reads and writes
  double first_touch_gbps = 0;  // of fresh memory; 0: as fast as other memory
  int64_t copy_ns = 0;      // the latencies
  int64_t launch_ns = 0;
  int64_t sync_ns = 0;
  int64_t event_ns = 0;
  int64_t call_ns = 0;
  int64_t malloc_ns = 0;
  int64_t host_allowance_ns = 0;

  double idle_clock = 1;  // of an idle device, relative to full clocks
  int64_t idle_ns = 0;    // until an idle device has low clocks
  int64_t ramp_ns = 0;    // until a busy one has full clocks

  int64_t kernel_ns = 0;  // a kernel without a declared duration: this, and the memory traffic of its threads
  uint64_t bytes_per_thread = 0;
  std::map<std::string, int64_t> kernels_ns;  // declared durations

  Fault fault = Fault::kNone;
  uint32_t fault_box = 0;       // the fault occurs in the process with this number or a later one
  uint64_t fault_launch = 1;    // and at this launch, counted over those processes
  uint32_t reset_boxes = 0;     // how many processes after that find a device that is being reset
  uintptr_t fault_address = 0;
};

// Returns false if the text is not valid.
bool parse_parameters(const char* text, Parameters* parameters);

}  // namespace hipcpu::stub
