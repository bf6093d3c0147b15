// The guest: the program in the run sandbox. It loads solution.so, opens the memory that the harness owns, and
// calls solution() on it.
//
// The guest decides nothing. Expected values never enter this process, and its clock is not used: the judge
// stops this process, fills the memory, lets it run, stops it again and reads. Every answer is a claim: once
// submitted code has run here, any answer may have been written by that code.
// Only public HIP calls are used, so that one source serves ROCm and the CPU runtime.
#include <hip/hip_runtime.h>

#include <cxxabi.h>
#include <dirent.h>
#include <dlfcn.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "channel.h"
#include "device_check.h"

#if __has_include(<hipcpu/hooks.h>)
#include <hipcpu/hooks.h>
#define ON_CPU_RUNTIME 1
#else
#define ON_CPU_RUNTIME 0
#endif

namespace {

using channel::answer;
using channel::answer_error;
using channel::answer_ok;
using channel::box;
using channel::kFault;
using channel::kOk;

enum Op : uint32_t { kLoad = 1, kPlan = 2, kRun = 3, kQuit = 4, kUpload = 5, kDownload = 6, kCheckDevice = 7 };
enum ArgumentKind : uint32_t { kTensor = 0, kShape = 1, kValue = 2 };
enum Flags : uint32_t { kProtect = 1, kOneWorker = 2 };

// Followed by the arguments, one IPC handle per slot and tensor if `shared`, and the numbers of the shapes.
struct PlanHeader {
  uint32_t arguments;
  uint32_t slots;
  uint32_t shared;       // whether the tensors are memory of the harness; else the guest allocates and copies them
  uint32_t shapes;       // numbers of all shapes together
  uint64_t slot_stride;  // bytes between the same tensor in consecutive slots of the data file; 0 if shared
  uint64_t front;        // guard bytes before a tensor's first element
};

struct PlanArgument {
  uint32_t kind;
  uint32_t reserved;
  uint64_t value;   // kValue: the bits of the value; kShape: number of size_t; kTensor: size of the elements in bytes
  uint64_t bytes;   // kTensor: size of the whole region, guard zones included
  uint64_t offset;  // kTensor: position in the data file; kShape: index of its first number
};

struct RunHeader {
  uint32_t calls;
  uint32_t flags;
  uint64_t marker;       // printed after the calls, so that the judge can split the output by case
};

struct RunAnswer {
  uint64_t launches;      // kernels launched by these calls; all ones if the toolchain cannot count them
  uint32_t left_threads;  // threads that the calls started and that still run
  int32_t error;
  char error_name[64];
};

using Call = void (*)(void* const*);

// Called until solution.so is loaded: the judge measures its own overhead with it.
void do_nothing(void* const*) {}
Call call_solution = do_nothing;

// The times of that call by HIP events: to a stop event recorded immediately, and to one after a synchronization.
float empty_at_once_ms = 0;
float empty_at_end_ms = 0;

// Called from a signal handler, so only async-signal-safe calls such as write() are allowed.
[[maybe_unused]] void on_fault(const char* json, size_t size) { answer(kFault, json, size); }

uint32_t count_threads() {
  DIR* tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return 0;
  uint32_t count = 0;
  while (const dirent* entry = readdir(tasks)) count += entry->d_name[0] != '.';
  closedir(tasks);
  return count;
}

// The kernel may list a joined thread for a moment longer: retry for 50 ms before counting it as running.
uint32_t count_left_threads([[maybe_unused]] uint32_t before) {
#if ON_CPU_RUNTIME
  uint32_t count = count_threads();
  for (int tries = 0; count > before && tries < 50; ++tries) {
    usleep(1000);
    count = count_threads();
  }
  return count > before ? count - before : 0;
#else
  return 0;  // ROCm starts its own helper threads at any time
#endif
}

uint64_t launches_so_far() {
#if ON_CPU_RUNTIME
  return hipcpu_launch_count();
#else
  return ~uint64_t{0};
#endif
}

// On the CPU runtime, makes device memory inaccessible to host code, and uses a single core for timed calls.
void begin_calls([[maybe_unused]] uint32_t flags) {
#if ON_CPU_RUNTIME
  hipcpu_limit_workers((flags & kOneWorker) != 0 ? 1 : ~0u);
  if ((flags & kProtect) != 0) hipcpu_protect_device_memory(true);
#endif
}

void end_calls([[maybe_unused]] uint32_t flags) {
#if ON_CPU_RUNTIME
  if ((flags & kProtect) != 0) hipcpu_protect_device_memory(false);
#endif
}

// The buffers of the current case: one set per slot.
class Buffers {
 public:
  bool plan(const std::vector<char>& payload) {
    release();
    channel::PayloadReader reader(payload);
    header_ = reader.take<PlanHeader>();
    arguments_ = reader.take<PlanArgument>(header_.arguments);
    handles_ = reader.take<hipIpcMemHandle_t>(header_.shared != 0 ? size_t{header_.slots} * tensors() : 0);
    shapes_ = reader.take<uint64_t>(header_.shapes);
    return (header_.shared != 0 || header_.slots == 0 || data_.map()) && allocate();
  }

  uint32_t slots() const { return header_.slots; }

  // The device address of each argument, for messages about faults.
  const std::vector<uint64_t>& addresses() const { return values_; }

  bool upload() { return copy(hipMemcpyHostToDevice); }
  bool download() { return copy(hipMemcpyDeviceToHost); }

  // The arguments of `solution` for this slot: a pointer to each argument's value.
  std::vector<void*> arguments(uint32_t slot) {
    std::vector<void*> list;
    for (size_t i = 0; i < arguments_.size(); ++i) list.push_back(&values_[slot * arguments_.size() + i]);
    return list;
  }

 private:
  size_t tensors() const {
    size_t count = 0;
    for (const PlanArgument& argument : arguments_) count += argument.kind == kTensor;
    return count;
  }

  bool allocate() {
    size_t handle = 0;
    for (uint32_t slot = 0; slot < header_.slots; ++slot)
      for (const PlanArgument& argument : arguments_)
        if (!allocate(argument, handle)) return false;
    return true;
  }

  bool allocate(const PlanArgument& argument, size_t& handle) {
    if (argument.kind == kValue) {
      values_.push_back(argument.value);
      regions_.push_back(nullptr);
      return true;
    }
    void* memory = nullptr;
    if (argument.kind == kShape) {  // readable from host and device
      size_t bytes = argument.value * sizeof(size_t);
      if (hipHostMalloc(&memory, bytes > 0 ? bytes : 1, 0) != hipSuccess) return false;
      std::memcpy(memory, shapes_.data() + argument.offset, bytes);
      values_.push_back(reinterpret_cast<uint64_t>(memory));
      regions_.push_back(memory);
      return true;
    }
    hipError_t error = header_.shared != 0
                           ? hipIpcOpenMemHandle(&memory, handles_[handle++], hipIpcMemLazyEnablePeerAccess)
                           : hipMalloc(&memory, argument.bytes);
    if (error != hipSuccess) return false;
    values_.push_back(reinterpret_cast<uint64_t>(memory) + header_.front);
    regions_.push_back(memory);
#ifdef HIPCPU_CHECKED
    hipcpu_limit(static_cast<char*>(memory) + header_.front, argument.value);
#endif
    return true;
  }

  bool copy(hipMemcpyKind kind) {
    for (uint32_t slot = 0; slot < header_.slots; ++slot)
      for (size_t i = 0; i < arguments_.size(); ++i) {
        if (arguments_[i].kind != kTensor) continue;
        char* host = data_.data() + slot * header_.slot_stride + arguments_[i].offset;
        void* device = regions_[slot * arguments_.size() + i];
        bool up = kind == hipMemcpyHostToDevice;
        if (hipMemcpy(up ? device : host, up ? host : device, arguments_[i].bytes, kind) != hipSuccess) return false;
      }
    return hipDeviceSynchronize() == hipSuccess;
  }

  void release() {
    for (size_t i = 0; i < regions_.size(); ++i) {
      if (regions_[i] == nullptr) continue;
      if (arguments_[i % arguments_.size()].kind == kShape)
        (void)hipHostFree(regions_[i]);
      else
        (void)(header_.shared != 0 ? hipIpcCloseMemHandle(regions_[i]) : hipFree(regions_[i]));
    }
    data_.unmap();
    regions_.clear();
    values_.clear();
  }

  PlanHeader header_{};
  std::vector<PlanArgument> arguments_;
  std::vector<hipIpcMemHandle_t> handles_;
  std::vector<uint64_t> shapes_;
  std::vector<uint64_t> values_;
  std::vector<void*> regions_;
  channel::DataFile data_;
};

// Names that a submission may not define. Our own references are already bound, so this check is not needed
// for safety; it gives the author a clear message.
const char* const kReserved[] = {
    "main",           "hipMalloc",       "hipFree",         "hipMemcpy",         "hipMemset",
    "hipEventCreate", "hipEventRecord",  "hipEventElapsedTime", "hipEventSynchronize", "hipDeviceSynchronize",
    "hipGetLastError", "hipLaunchKernel", "clock_gettime",  "gettimeofday",      "clock",
    "time",           "read",            "write",           "open",              "close",
    "mmap",           "munmap",          "malloc",          "free",              "calloc",
    "realloc",        "memcpy",          "memset",          "memmove",           "exit",
    "_exit",          "abort",           "dlopen",          "dlsym",             "pthread_create",
    "sigaction",      "signal",          "raise",           "usleep",            "nanosleep",
};

std::string reserved_name(void* library) {
  void* here = dlsym(library, "warmfront_call");
  Dl_info own{};
  Dl_info other{};
  if (here == nullptr || dladdr(here, &own) == 0) return "";
  for (const char* name : kReserved) {
    void* at = dlsym(library, name);
    if (at != nullptr && dladdr(at, &other) != 0 && other.dli_fbase == own.dli_fbase) return name;
  }
  return "";
}

// Demangle the symbol in "undefined symbol: _Z3foov".
std::string demangled(std::string text) {
  size_t at = text.find("undefined symbol: ");
  if (at == std::string::npos) return text;
  at += std::strlen("undefined symbol: ");
  int status = 0;
  char* name = abi::__cxa_demangle(text.substr(at).c_str(), nullptr, nullptr, &status);
  if (name != nullptr) text = text.substr(0, at) + name;
  std::free(name);
  return text;
}

// Prevents host code of the submission from making device memory accessible to itself, or from replacing
// code. That makes attacks harder; the judge does not rely on it, so it is not an error if the sandbox
// forbids this call.
void seal([[maybe_unused]] bool loaded) {
#if ON_CPU_RUNTIME
  (void)(loaded ? hipcpu_seal_code() : hipcpu_seal_device_memory());
#endif
}

std::string load() {
  seal(false);
  // RTLD_NOW: report an undefined symbol now, not in the middle of a timed call.
  void* library = dlopen((box + "/solution.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return demangled(dlerror());
  std::string reserved = reserved_name(library);
  if (!reserved.empty()) return "reserved name: " + reserved;
  call_solution = reinterpret_cast<Call>(dlsym(library, "warmfront_call"));
  seal(true);
  return call_solution == nullptr ? "solution.so has no warmfront_call" : "";
}

// Times one call by HIP events. The first stop event is recorded immediately and excludes the
// synchronization; the second is recorded after it, and includes work on streams that the first does not wait
// for.
class CallTimer {
 public:
  CallTimer() {
    for (hipEvent_t& event : events_) (void)hipEventCreate(&event);
  }
  ~CallTimer() {
    for (hipEvent_t& event : events_) (void)hipEventDestroy(event);
  }
  CallTimer(const CallTimer&) = delete;
  CallTimer& operator=(const CallTimer&) = delete;

  // Returns the time minus that of an empty solution, in ms. Before solution.so is loaded, it measures the latter.
  float operator()(const std::vector<void*>& arguments) {
    (void)hipEventRecord(events_[0], nullptr);
    call_solution(arguments.data());
    (void)hipEventRecord(events_[1], nullptr);
    (void)hipDeviceSynchronize();  // the whole device: work on other streams counts too
    (void)hipEventRecord(events_[2], nullptr);
    (void)hipEventSynchronize(events_[2]);
    const float at_once = elapsed_ms(1), at_end = elapsed_ms(2);
    if (call_solution == do_nothing) {
      empty_at_once_ms = at_once;
      empty_at_end_ms = at_end;
    }
    return std::fmax(at_once - empty_at_once_ms, at_end - empty_at_end_ms);
  }

 private:
  float elapsed_ms(int stop) {
    float ms = 0;
    (void)hipEventElapsedTime(&ms, events_[0], events_[stop]);
    return ms;
  }

  hipEvent_t events_[3] = {};
};

void print_marker(uint64_t marker) {
  if (marker == 0) return;
  std::printf("\x1e%016llx\n", static_cast<unsigned long long>(marker));
  std::fflush(stdout);
}

void run(Buffers& buffers, const RunHeader& header, uint32_t threads_before) {
  CallTimer timed_call;
  std::vector<double> times;
  std::vector<std::vector<void*>> arguments;
  for (uint32_t slot = 0; slot < buffers.slots(); ++slot) arguments.push_back(buffers.arguments(slot));
  if (arguments.empty()) arguments.emplace_back();  // to measure the overhead
  uint64_t launches_before = launches_so_far();
  (void)hipGetLastError();
  begin_calls(header.flags);
  for (uint32_t i = 0; i < header.calls; ++i) {
    times.push_back(timed_call(arguments[i % arguments.size()]));
  }
  end_calls(header.flags);
  hipError_t error = hipGetLastError();
  print_marker(header.marker);
  uint64_t launches = launches_so_far();
  RunAnswer fixed{launches == ~uint64_t{0} ? launches : launches - launches_before,
                  (header.flags & kOneWorker) != 0 ? 0 : count_left_threads(threads_before),
                  static_cast<int32_t>(error), {}};
  std::snprintf(fixed.error_name, sizeof fixed.error_name, "%s", hipGetErrorName(error));
  std::vector<char> payload(sizeof fixed + times.size() * sizeof(double));
  std::memcpy(payload.data(), &fixed, sizeof fixed);
  std::memcpy(payload.data() + sizeof fixed, times.data(), times.size() * sizeof(double));
  answer(kOk, payload.data(), payload.size());
}

void serve() {
  Buffers buffers;
  uint32_t threads = count_threads();
  std::vector<char> payload;
  for (;;) {
    channel::Header header{};
    channel::receive(header, payload);
    const uint32_t op = header.op_or_kind;
    if (op == kLoad) {
      std::string error = load();
      error.empty() ? answer_ok() : answer_error(error);
    } else if (op == kPlan) {
      if (buffers.plan(payload))
        answer(kOk, buffers.addresses().data(), buffers.addresses().size() * sizeof(uint64_t));
      else
        answer_error("the case's buffers do not fit into device memory");
    } else if (op == kRun) {
      run(buffers, channel::PayloadReader(payload).take<RunHeader>(), threads);
    } else if (op == kUpload) {
      buffers.upload() ? answer_ok() : answer_error("the inputs could not be copied to the device");
    } else if (op == kDownload) {
      buffers.download() ? answer_ok() : answer_error("the outputs could not be copied from the device");
    } else if (op == kCheckDevice) {  // only before kLoad
      DeviceCheck result;
      const std::string error = check_device(result);
      error.empty() ? answer(kOk, &result, sizeof result) : answer_error(error);
    } else {
      answer_ok();
      _exit(0);  // skip the destructors of submitted code
    }
  }
}

}  // namespace

int main([[maybe_unused]] int count, char** arguments) {
  box = arguments[1];
  setvbuf(stdout, nullptr, _IOLBF, 0);
#ifdef HIPCPU_CHECKED
  hipcpu_findings_to((box + "/findings").c_str());
  if (count > 2) hipcpu_limit_steps(std::strtoull(arguments[2], nullptr, 10));
  (void)nice(10);  // the run that decides the verdict has priority
#endif
#if ON_CPU_RUNTIME
  if (getenv("HIPCPU_IPC_DIR") == nullptr) hipcpu_ipc_directory(box.c_str());
  hipcpu_on_fault(on_fault);
  hipcpu_start_workers();
#else
  (void)hipFree(nullptr);  // initialize the HIP runtime before anything is timed
#endif
  if (!channel::open_fifos()) return 70;
  try {
    serve();
  } catch (const std::exception& error) {
    answer_error(std::string("uncaught exception: ") + error.what());
  } catch (...) {
    answer_error("uncaught exception");
  }
  _exit(1);
}
