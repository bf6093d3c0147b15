#include "stub_gpu.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "stub_parameters.h"

namespace hipcpu::stub {

bool on = false;

namespace {

constexpr size_t kPageBytes = 4096;
constexpr int64_t kLeastQueryNs = 1000;

// One page of the file: the state of a device that all processes share. warmfront/hip/stub/stub_device.py reads and
// writes it.
struct Device {
  std::atomic<int64_t> now_ns;           // the virtual time
  std::atomic<int64_t> kernels_end_ns;   // the ends of the three queues
  std::atomic<int64_t> uploads_end_ns;
  std::atomic<int64_t> downloads_end_ns;
  std::atomic<int64_t> warm_ns;          // how long the device has been busy since its clocks were low
  std::atomic<uint64_t> launches;        // of processes in which the fault may happen
  std::atomic<uint32_t> processes;       // that have used the device so far
  std::atomic<uint32_t> resets;
  std::atomic<uint32_t> reset_until;     // processes up to this number find a device that is being reset
  std::atomic<uint32_t> failure;         // the error of every later call, for a device that is lost; else 0
  std::atomic<uint32_t> stuck;           // whether the device hangs: no work of any process ends
};
static_assert(sizeof(Device) <= kPageBytes && std::atomic<int64_t>::is_always_lock_free);

// The state of a device in this process.
struct OpenDevice {
  int index;  // in the machine
  Device* shared;
  uint32_t process;  // the number of this process
  uint32_t resets;   // at its start
  Queue null_queue;
};

struct Model {
  Parameters parameters;
  Facts facts{};
  std::vector<OpenDevice> devices;
  std::mutex mutex;               // of the queues
  std::set<Queue*> queues;        // of streams
  std::atomic<bool> hangs{false};  // a kernel of this process never ends
};

Model& model() {
  static Model& only = *new Model;
  return only;
}

thread_local int device_of_thread = 0;
thread_local int64_t host_cpu_ns = 0;  // CPU time of this thread when its last call ended
thread_local int depth = 0;  // HIP functions call each other; only the outermost one counts
thread_local int64_t next_launch_ns = -1;

OpenDevice& device(int index) { return model().devices[static_cast<size_t>(index)]; }
OpenDevice& device() { return device(device_of_thread); }
const Parameters& parameters() { return model().parameters; }

int64_t cpu_ns() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1'000'000'000ll + t.tv_nsec;
}

void advance(Device& d, int64_t ns) { d.now_ns.fetch_add(ns, std::memory_order_relaxed); }

void advance_to(std::atomic<int64_t>& time, int64_t at_ns) {
  int64_t now = time.load(std::memory_order_relaxed);
  while (now < at_ns && !time.compare_exchange_weak(now, at_ns, std::memory_order_relaxed)) {
  }
}

// Places work of `duration_ns` on a queue, not before `earliest_ns`; returns its end.
int64_t place(std::atomic<int64_t>& end, int64_t earliest_ns, int64_t duration_ns) {
  int64_t before = end.load(std::memory_order_relaxed);
  for (;;) {
    const int64_t after = std::max(before, earliest_ns) + duration_ns;
    if (end.compare_exchange_weak(before, after, std::memory_order_relaxed)) return after;
  }
}

int64_t transfer_ns(size_t bytes, double gbps) { return static_cast<int64_t>(static_cast<double>(bytes) / gbps); }

// The duration of work that takes `work_ns` at full clocks. An idle device has low clocks, which rise while
// it is busy: the speed rises linearly from idle_clock to 1 within ramp_ns.
int64_t with_clocks(Device& d, int64_t start_ns, int64_t work_ns) {
  const Parameters& p = parameters();
  const double ramp = static_cast<double>(p.ramp_ns);
  if (ramp <= 0 || p.idle_clock >= 1) return work_ns;
  if (start_ns - d.kernels_end_ns.load() > p.idle_ns) d.warm_ns.store(0);
  const double warm = std::min(static_cast<double>(d.warm_ns.load()), ramp);
  const double slope = (1 - p.idle_clock) / ramp;
  const double speed = p.idle_clock + slope * warm;
  const double work = static_cast<double>(work_ns);
  // Work done in t: speed * t + slope * t * t / 2, until the clocks are full.
  const double until_full = ramp - warm;
  const double done_until_full = speed * until_full + slope * until_full * until_full / 2;
  double t = done_until_full <= work ? until_full + (work - done_until_full)
                                     : (std::sqrt(speed * speed + 2 * slope * work) - speed) / slope;
  d.warm_ns.store(static_cast<int64_t>(std::min(ramp, warm + t)));
  return static_cast<int64_t>(t);
}

// The time at which work of this queue can start: after its own work, and after that of the null stream or the other
// streams, which wait for each other.
int64_t ready_ns(OpenDevice& d, const Queue& queue) {
  int64_t ready = queue.end_ns;
  if (queue.waits_for_null) ready = std::max(ready, d.null_queue.end_ns);
  if (&queue == &d.null_queue)
    for (const Queue* other : model().queues)
      if (other->waits_for_null && other->device == queue.device) ready = std::max(ready, other->end_ns);
  return ready;
}

void place_kernel(OpenDevice& d, Queue& queue, int64_t work_ns) {
  Device& shared = *d.shared;
  const int64_t start = std::max({shared.now_ns.load() + parameters().launch_ns, ready_ns(d, queue),
                                  shared.kernels_end_ns.load()});
  queue.end_ns = place(shared.kernels_end_ns, start, with_clocks(shared, start, work_ns));
}

void hang() {
  for (;;) pause();
}

void wait_until(Device& d, int64_t at_ns) {
  if (model().hangs.load() || d.stuck.load()) hang();
  advance_to(d.now_ns, at_ns);
  advance(d, parameters().sync_ns);
}

bool is_broken_by_reset(const OpenDevice& d) {
  return d.resets != d.shared->resets.load() || d.process <= d.shared->reset_until.load();
}

hipError_t state_of_device() {
  if (model().devices.empty()) return hipErrorNoDevice;
  const OpenDevice& d = device();
  if (const uint32_t failure = d.shared->failure.load(); failure != 0) return static_cast<hipError_t>(failure);
  return is_broken_by_reset(d) ? hipErrorUnknown : hipSuccess;
}

// A device of a list: a number, or GPU- and the unique id in hexadecimal; -1 if it is neither.
int parse_device(const std::string& text) {
  constexpr uint64_t kFirstUniqueId = 0x5700000000000000;  // stub_toolchain.py has the same
  const bool by_id = text.rfind("GPU-", 0) == 0;
  const char* begin = text.c_str() + (by_id ? 4 : 0);
  char* end = nullptr;
  const uint64_t value = std::strtoull(begin, &end, by_id ? 16 : 10) - (by_id ? kFirstUniqueId : 0);
  return end == begin || *end != '\0' || value > INT_MAX ? -1 : static_cast<int>(value);
}

// The devices that ROCR_VISIBLE_DEVICES leaves, and of those the ones that HIP_VISIBLE_DEVICES leaves. As with ROCm, a
// device that does not exist ends the list.
std::vector<int> visible_devices(int count) {
  std::vector<int> visible;
  for (int i = 0; i < count; ++i) visible.push_back(i);
  for (const char* variable : {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"}) {
    const char* text = std::getenv(variable);
    if (text == nullptr) continue;
    std::vector<int> chosen;
    std::istringstream list(text);
    for (std::string item; std::getline(list, item, ',');) {
      const int index = parse_device(item);
      if (index < 0 || index >= static_cast<int>(visible.size())) break;
      chosen.push_back(visible[static_cast<size_t>(index)]);
    }
    visible = chosen;
  }
  return visible;
}

void open_devices(const char* path) {
  Model& m = model();
  const int fd = open(path, O_RDWR | O_CLOEXEC);
  const size_t bytes = kPageBytes * static_cast<size_t>(m.parameters.devices);
  struct stat status {};
  if (fd < 0 || fstat(fd, &status) != 0 || static_cast<size_t>(status.st_size) < bytes) {
    std::fprintf(stderr, "stub GPU: %s is not a file of %zu bytes\n", path, bytes);
    _exit(70);
  }
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (pages == MAP_FAILED) _exit(70);
  int position = 0;
  for (const int index : visible_devices(m.parameters.devices)) {
    auto* shared = reinterpret_cast<Device*>(static_cast<char*>(pages) + kPageBytes * static_cast<size_t>(index));
    const uint32_t process = shared->processes.fetch_add(1) + 1;
    Queue null_queue;
    null_queue.device = position++;
    m.devices.push_back({index, shared, process, shared->resets.load(), null_queue});
  }
}

void set_facts() {
  Model& m = model();
  std::snprintf(m.facts.name, sizeof m.facts.name, "%s", m.parameters.name.c_str());
  std::snprintf(m.facts.arch, sizeof m.facts.arch, "%s", m.parameters.arch.c_str());
  m.facts.memory_bytes = m.parameters.memory_bytes;
  m.facts.compute_units = m.parameters.compute_units;
}

// Before main, and so before submitted code can change the environment.
__attribute__((constructor)) void attach() {
  const char* text = std::getenv("HIPCPU_STUB_GPU");
  const char* path = std::getenv("HIPCPU_STUB_STATE");
  if (text == nullptr || path == nullptr) return;
  Model& m = model();
  if (!parse_parameters(text, &m.parameters)) {
    std::fprintf(stderr, "stub GPU: HIPCPU_STUB_GPU is not valid: %s\n", text);
    _exit(70);
  }
  set_facts();
  if (m.parameters.fault != Fault::kNoDevice) open_devices(path);
  host_cpu_ns = cpu_ns();
  on = true;
}

hipError_t start_fault(OpenDevice& d) {
  Device& shared = *d.shared;
  switch (parameters().fault) {
    case Fault::kMemoryFault:
      abort_by_memory_fault(parameters().fault_address);
    case Fault::kHang:
      model().hangs = true;
      return hipSuccess;
    case Fault::kStuck:
      shared.stuck = 1;
      return hipSuccess;
    case Fault::kReset:
      shared.reset_until = shared.processes.load() + parameters().reset_boxes;
      shared.resets.fetch_add(1);
      return hipErrorUnknown;
    case Fault::kOffTheBus:
      shared.failure = hipErrorNoDevice;
      return hipErrorUnknown;
    case Fault::kEcc:
      shared.failure = hipErrorECCNotCorrectable;
      return hipErrorECCNotCorrectable;
    case Fault::kNone:
    case Fault::kNoDevice:
    case Fault::kMemoryFull:
      break;
  }
  return hipSuccess;
}

char* put_hex(char* at, uintptr_t value) {
  constexpr char kDigits[] = "0123456789abcdef";
  *at++ = '0';
  *at++ = 'x';
  int shift = 60;
  while (shift > 0 && (value >> shift) == 0) shift -= 4;
  for (; shift >= 0; shift -= 4) *at++ = kDigits[value >> shift & 15];
  return at;
}

char* put_text(char* at, const char* text) {
  const size_t bytes = std::strlen(text);
  std::memcpy(at, text, bytes);
  return at + bytes;
}

}  // namespace

void Call::begin(Caller caller) {
  if (depth++ > 0) return;
  error_ = state_of_device();
  if (model().devices.empty()) return;
  // The CPU time of this thread's host code counts, except for an allowance, because it varies. The workers
  // of the CPU runtime are the device: their CPU time does not count as host code.
  const int64_t computed_ns = cpu_ns() - host_cpu_ns - parameters().host_allowance_ns;
  const int64_t call_ns = caller == Caller::kHost ? parameters().call_ns : 0;
  advance(*device().shared, call_ns + std::max<int64_t>(0, computed_ns));
}

void Call::end() {
  if (--depth == 0) host_cpu_ns = cpu_ns();
}

const Facts& facts() { return model().facts; }
int device_count() { return static_cast<int>(model().devices.size()); }
int current_device() { return device_of_thread; }
int pci_bus(int index) { return 5 + device(index).index; }

bool set_device(int index) {
  if (index < 0 || index >= device_count()) return false;
  device_of_thread = index;
  return true;
}

hipError_t begin_launch() {
  OpenDevice& d = device();
  if (parameters().code_arch != parameters().arch) return hipErrorNoBinaryForGpu;
  const Parameters& p = parameters();
  if (p.fault == Fault::kNone || d.process < p.fault_box) return hipSuccess;
  return d.shared->launches.fetch_add(1) + 1 == p.fault_launch ? start_fault(d) : hipSuccess;
}

void set_next_launch(int64_t duration_ns) { next_launch_ns = duration_ns; }

void end_launch(Queue& queue, const char* kernel, uint64_t threads) {
  const Parameters& p = parameters();
  int64_t work_ns = next_launch_ns;
  next_launch_ns = -1;
  if (work_ns < 0) {
    const auto declared = p.kernels_ns.find(kernel);
    work_ns = declared != p.kernels_ns.end() ? declared->second
                                             : p.kernel_ns + transfer_ns(threads * p.bytes_per_thread, p.hbm_gbps);
  }
  const std::lock_guard lock(model().mutex);
  place_kernel(device(queue.device), queue, work_ns);
}

void copied(Queue& queue, Direction direction, bool pinned, size_t bytes, bool waits) {
  if (direction == Direction::kOnHost) return;
  const Parameters& p = parameters();
  const std::lock_guard lock(model().mutex);
  OpenDevice& d = device(queue.device);
  Device& shared = *d.shared;
  if (direction == Direction::kOnDevice) {
    place_kernel(d, queue, transfer_ns(2 * bytes, p.hbm_gbps));
  } else {
    auto& engine = direction == Direction::kUp ? shared.uploads_end_ns : shared.downloads_end_ns;
    const int64_t duration = p.copy_ns + transfer_ns(bytes, pinned ? p.pinned_gbps : p.copy_gbps);
    queue.end_ns = place(engine, std::max(shared.now_ns.load(), ready_ns(d, queue)), duration);
  }
  const bool is_staged = direction != Direction::kOnDevice && !pinned;
  if (waits || is_staged) wait_until(shared, queue.end_ns);
}

void filled(Queue& queue, size_t bytes) {
  const std::lock_guard lock(model().mutex);
  place_kernel(device(queue.device), queue, transfer_ns(bytes, parameters().hbm_gbps));
}

bool can_allocate() { return parameters().fault != Fault::kMemoryFull; }

void allocated(size_t) { advance(*device().shared, parameters().malloc_ns); }

void touched(size_t bytes) {
  if (bytes == 0 || parameters().first_touch_gbps <= 0) return;
  Device& shared = *device().shared;
  place(shared.kernels_end_ns, shared.now_ns.load(), transfer_ns(bytes, parameters().first_touch_gbps));
}

void synchronize(const Queue& queue) {
  const std::lock_guard lock(model().mutex);
  OpenDevice& d = device(queue.device);
  wait_until(*d.shared, ready_ns(d, queue));
}

void synchronize_device() {
  const std::lock_guard lock(model().mutex);
  OpenDevice& d = device();
  int64_t end = d.null_queue.end_ns;
  for (const Queue* queue : model().queues)
    if (queue->device == device_of_thread) end = std::max(end, queue->end_ns);
  wait_until(*d.shared, end);
}

void synchronize_until(int64_t at_ns) { wait_until(*device().shared, at_ns); }

bool is_done(int64_t at_ns) {
  Device& shared = *device().shared;
  advance(shared, kLeastQueryNs);
  return !model().hangs.load() && !shared.stuck.load() && shared.now_ns.load() >= at_ns;
}

int64_t record_event(Queue& queue) {
  const std::lock_guard lock(model().mutex);
  OpenDevice& d = device(queue.device);
  queue.end_ns = std::max(d.shared->now_ns.load(), ready_ns(d, queue)) + parameters().event_ns;
  return queue.end_ns;
}

Queue& null_queue() { return device().null_queue; }

void join(Queue& queue) {
  const std::lock_guard lock(model().mutex);
  queue.device = device_of_thread;
  model().queues.insert(&queue);
}

void leave(Queue& queue) {
  const std::lock_guard lock(model().mutex);
  // Its work continues: a later synchronization of the device waits for it.
  Queue& null = device(queue.device).null_queue;
  null.end_ns = std::max(null.end_ns, queue.end_ns);
  model().queues.erase(&queue);
}

void abort_by_memory_fault(uintptr_t address) {
  char text[256];
  char* at = put_text(text, "Memory access fault by GPU node-1 (Agent handle: ");
  at = put_text(put_hex(at, 0x55d0c8a01c70), ") on address ");
  at = put_text(put_hex(at, address & ~uintptr_t{4095}), ". Reason: Unknown.\n");
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text, static_cast<size_t>(at - text));
  signal(SIGABRT, SIG_DFL);
  raise(SIGABRT);
  // The first process of a container is not ended by its own signal, and `abort` would fault instead, forever.
  _exit(128 + SIGABRT);
}

}  // namespace hipcpu::stub
