// How it is sealed: a seccomp filter that all threads get refuses calls that change mappings of the arena, unless they
// are made by one instruction, which is below. So host code of a submission cannot make device memory accessible while
// it is protected, and cannot read it through a system call. A filter sees addresses only, so this stops calls and not
// code that jumps to that instruction.
#include "arena.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>
#include <iterator>
#include <map>
#include <vector>

#include <hipcpu/hooks.h>

extern "C" {
// The only system call that may change the arena, and the address after its instruction, as a filter sees it.
__attribute__((visibility("hidden"))) long hipcpu_arena_call(long number, long a, long b, long c, long d, long e, long f);
__attribute__((visibility("hidden"))) extern const char hipcpu_arena_call_made[];
}

#if defined(__x86_64__)
asm(R"(
  .text
  .globl hipcpu_arena_call
  .hidden hipcpu_arena_call
  .type hipcpu_arena_call, @function
hipcpu_arena_call:
  mov %rdi, %rax
  mov %rsi, %rdi
  mov %rdx, %rsi
  mov %rcx, %rdx
  mov %r8, %r10
  mov %r9, %r8
  mov 8(%rsp), %r9
  syscall
  .globl hipcpu_arena_call_made
  .hidden hipcpu_arena_call_made
hipcpu_arena_call_made:
  ret
  .size hipcpu_arena_call, . - hipcpu_arena_call
)");
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#else
asm(R"(
  .text
  .globl hipcpu_arena_call
  .hidden hipcpu_arena_call
  .type hipcpu_arena_call, %function
hipcpu_arena_call:
  mov x8, x0
  mov x0, x1
  mov x1, x2
  mov x2, x3
  mov x3, x4
  mov x4, x5
  mov x5, x6
  svc #0
  .globl hipcpu_arena_call_made
  .hidden hipcpu_arena_call_made
hipcpu_arena_call_made:
  ret
  .size hipcpu_arena_call, . - hipcpu_arena_call
)");
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#endif

namespace hipcpu {

namespace {

constexpr size_t kUnitBytes = size_t{1} << 32;  // the filter compares the upper halves of addresses
constexpr uint32_t kUnusedUnits = 2;            // at the beginning, so that ranges below the arena never reach it
constexpr size_t kArenaBytes = size_t{2} << 40;
constexpr size_t kLeastBytes = size_t{64} << 30;
// Below everything that the system maps, so that nothing else is placed next to it.
constexpr uintptr_t kWantedPlace = uintptr_t{16} << 40;
constexpr int kReserved = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

struct Arena {
  uintptr_t begin = 0;
  uintptr_t end = 0;                         // equal if there is no arena
  std::map<uintptr_t, size_t> free;          // ranges that are not in use
};

bool reserve_arena(Arena& arena, size_t bytes) {
  void* place = mmap(reinterpret_cast<void*>(kWantedPlace), bytes, PROT_NONE, kReserved | MAP_FIXED_NOREPLACE, -1, 0);
  if (place == MAP_FAILED) return false;
  const auto begin = reinterpret_cast<uintptr_t>(place);
  if (begin % kUnitBytes != 0) {  // a kernel that does not know the flag, or has no such addresses
    munmap(place, bytes);
    return false;
  }
  arena.begin = begin;
  arena.end = begin + bytes;
  arena.free[begin + kUnusedUnits * kUnitBytes] = bytes - kUnusedUnits * kUnitBytes;
  return true;
}

// The arena is as large as the limit on address space allows, or missing.
Arena& arena() {
  static Arena& only = *[] {
    auto* made = new Arena;
    for (size_t bytes = kArenaBytes; bytes >= kLeastBytes && !reserve_arena(*made, bytes); bytes /= 4) {
    }
    return made;
  }();
  return only;
}

bool is_in_arena(const void* begin) {
  const auto address = reinterpret_cast<uintptr_t>(begin);
  return address >= arena().begin && address < arena().end;
}

long call(long number, const void* begin, size_t bytes, long c = 0, long d = 0, long e = 0, long f = 0) {
  return hipcpu_arena_call(number, reinterpret_cast<long>(begin), static_cast<long>(bytes), c, d, e, f);
}

// A filter is a list of rules: each begins with the number of its system call and ends in a verdict or the next rule.
using Filter = std::vector<sock_filter>;

constexpr uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr uint32_t refuse_with(uint32_t error) { return SECCOMP_RET_ERRNO | error; }

constexpr uint32_t at_argument(unsigned index, bool upper) {
  return offsetof(seccomp_data, args) + 8 * index + (upper ? 4 : 0);
}

sock_filter load(uint32_t offset) { return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset); }
sock_filter end_with(uint32_t verdict) { return BPF_STMT(BPF_RET | BPF_K, verdict); }

void add_rule(Filter& filter, long number, std::initializer_list<sock_filter> body) {
  filter.push_back(load(offsetof(seccomp_data, nr)));
  filter.push_back(
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(number), 0, static_cast<uint8_t>(body.size())));
  filter.insert(filter.end(), body);
}

// Refuses a call if the range of `bytes` (the index of an argument) from `begin` on could reach the arena.
void refuse_range(Filter& filter, long number, unsigned begin, unsigned bytes) {
  const auto first = static_cast<uint32_t>(arena().begin / kUnitBytes);
  const auto end = static_cast<uint32_t>(arena().end / kUnitBytes);
  add_rule(filter, number,
           {load(at_argument(bytes, true)), BPF_STMT(BPF_MISC | BPF_TAX, 0), load(at_argument(begin, true)),
            BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, end, 3, 0), BPF_STMT(BPF_ALU | BPF_ADD | BPF_X, 0),
            // The sum of the upper halves is at most one less than the upper half of the sum.
            BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, first + kUnusedUnits - 1, 0, 1), end_with(refuse_with(EPERM))});
}

// Refuses a call with an address in the arena.
void refuse_address(Filter& filter, long number, unsigned argument, uint32_t error) {
  const auto first = static_cast<uint32_t>(arena().begin / kUnitBytes);
  const auto end = static_cast<uint32_t>(arena().end / kUnitBytes);
  add_rule(filter, number,
           {load(at_argument(argument, true)), BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, end, 2, 0),
            BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, first, 0, 1), end_with(refuse_with(error))});
}

// Refuses new executable memory, and the replacement of code.
void refuse_code(Filter& filter, long number) {
  add_rule(filter, number,
           {load(at_argument(2, false)), BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
            end_with(refuse_with(EPERM))});
}

// Refuses to replace the handler that reports faults: host code could find out what is protected.
void refuse_handler(Filter& filter, int signal) {
  add_rule(filter, SYS_rt_sigaction,
           {load(at_argument(1, false)), BPF_STMT(BPF_MISC | BPF_TAX, 0), load(at_argument(1, true)),
            BPF_STMT(BPF_ALU | BPF_OR | BPF_X, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 3, 0),  // only a question
            load(at_argument(0, false)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(signal), 0, 1),
            end_with(refuse_with(EPERM))});
}

void allow_own_calls(Filter& filter) {
  const auto made = reinterpret_cast<uintptr_t>(hipcpu_arena_call_made);
  const std::initializer_list<sock_filter> rule = {
      load(offsetof(seccomp_data, instruction_pointer)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(made), 0, 3),
      load(offsetof(seccomp_data, instruction_pointer) + 4),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(made >> 32), 0, 1),
      end_with(kAllow),
  };
  filter.insert(filter.end(), rule);
}

Filter begin_filter() {
  return {load(offsetof(seccomp_data, arch)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0),
          end_with(SECCOMP_RET_KILL_PROCESS)};
}

// Installs the filter for all threads and returns 0, or an error number.
int install(Filter filter) {
  filter.push_back(end_with(kAllow));
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  const long failed = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
  return failed == 0 ? 0 : failed > 0 ? EBUSY : errno;
}

Filter device_memory_filter() {
  Filter filter = begin_filter();
  allow_own_calls(filter);
  for (const long number : {SYS_mprotect, SYS_pkey_mprotect, SYS_munmap, SYS_mremap, SYS_madvise, SYS_mmap,
                            SYS_remap_file_pages, SYS_mlock, SYS_mlock2, SYS_munlock, SYS_mincore, SYS_msync})
    refuse_range(filter, number, 0, 1);
  refuse_address(filter, SYS_mremap, 4, EPERM);
  for (const long number : {SYS_read, SYS_write, SYS_pread64, SYS_pwrite64})
    refuse_address(filter, number, 1, EFAULT);
  for (const int signal : {SIGSEGV, SIGBUS}) refuse_handler(filter, signal);
  return filter;
}

Filter code_filter() {
  Filter filter = begin_filter();
  for (const long number : {SYS_mprotect, SYS_pkey_mprotect, SYS_mmap}) refuse_code(filter, number);
  return filter;
}

}  // namespace

void* reserve_addresses(size_t bytes, bool for_device, size_t remainder) {
  auto& free = arena().free;
  for (auto range = free.begin(); for_device && range != free.end(); ++range) {
    const auto [begin, size] = *range;
    const size_t skipped = (remainder + kHugePageBytes - begin % kHugePageBytes) % kHugePageBytes;
    if (size < skipped + bytes) continue;
    free.erase(range);
    if (skipped) free[begin] = skipped;
    if (size > skipped + bytes) free[begin + skipped + bytes] = size - skipped - bytes;
    return reinterpret_cast<void*>(begin + skipped);
  }
  void* place = mmap(nullptr, bytes, PROT_NONE, kReserved, -1, 0);
  return place == MAP_FAILED ? nullptr : place;
}

void release_addresses(void* begin, size_t bytes) {
  if (!is_in_arena(begin)) {
    munmap(begin, bytes);
    return;
  }
  close_addresses(begin, bytes);
  auto& free = arena().free;
  auto range = free.insert({reinterpret_cast<uintptr_t>(begin), bytes}).first;
  if (const auto after = std::next(range); after != free.end() && range->first + range->second == after->first) {
    range->second += after->second;
    free.erase(after);
  }
  if (range == free.begin()) return;
  if (const auto before = std::prev(range); before->first + before->second == range->first) {
    before->second += range->second;
    free.erase(range);
  }
}

void close_addresses(void* begin, size_t bytes) {
  call(SYS_mmap, begin, bytes, PROT_NONE, kReserved | MAP_FIXED, -1, 0);
}

void use_huge_pages(void* begin, size_t bytes) { call(SYS_madvise, begin, bytes, MADV_HUGEPAGE); }

bool set_protection(void* begin, size_t bytes, int protection) {
  return call(SYS_mprotect, begin, bytes, protection) == 0;
}

bool map_file(void* begin, size_t bytes, int fd, uint64_t offset) {
  // Populated, so that the first access of a kernel does not have to.
  constexpr int kFlags = MAP_SHARED | MAP_FIXED | MAP_POPULATE;
  const long place = call(SYS_mmap, begin, bytes, PROT_READ | PROT_WRITE, kFlags, fd, static_cast<long>(offset));
  return place == reinterpret_cast<long>(begin);
}

}  // namespace hipcpu

extern "C" {

int hipcpu_seal_device_memory() {
  using namespace hipcpu;
  return arena().begin == arena().end ? ENOMEM : install(device_memory_filter());
}

int hipcpu_seal_code() { return hipcpu::install(hipcpu::code_filter()); }
}
