// Classifies addresses: device memory, shared memory, a variable of the file; the stack or the runtime's own
// memory, which are ignored; or none of these, which is a bug.
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <hipcpu/hooks.h>

#include "../runtime/memory.h"
#include "../runtime/text.h"
#include "finder.h"

namespace hipcpu::checks {

namespace {

constexpr uintptr_t kNullBytes = 64 * 1024;
constexpr uintptr_t kThreadLocalBytes = 4 << 20;  // around the thread-local block: variables of other libraries
constexpr uintptr_t kGuardBytes = 4096;
constexpr uintptr_t kNearBytes = 16 * 1024;
constexpr size_t kStacksBytes = (kMaxThreads + 1) * (kPrivateBytes + (80 << 10));

struct Extent {
  uintptr_t begin;
  uintptr_t end;
};

struct Variable {
  uintptr_t offset;  // in the library, or in its thread-local block
  size_t bytes;
  std::string name;
  Space space;
};

// Facts about the library with the kernels.
struct Library {
  const void* base = nullptr;
  std::vector<Variable> locals;     // thread-local variables
  std::vector<Variable> variables;  // other writable variables
  std::vector<Extent> data;         // the sections that contain them
  uintptr_t place_offset = 0;  // of threadIdx in the thread-local block
  uintptr_t block = 0;         // the address of that block
  Extent image{};
};

struct Places {
  Library library;
  std::vector<Region> regions;  // sorted by address
  Region* last = nullptr;
  std::map<uintptr_t, Extent> limits;  // the accessible part of allocations that are larger
};

Places& places() {
  static Places& only = *new Places;
  return only;
}

// "_ZZ6matmulPKfE4tile" is `tile` in matmul; the last name is that of the variable.
std::string plain_name(const char* mangled) {
  const char* at = std::strrchr(mangled, 'E');
  if (std::strncmp(mangled, "_ZL", 3) == 0) at = mangled + 2;
  if (!at) return mangled;
  char* end = nullptr;
  const size_t length = std::strtoul(at + 1, &end, 10);
  return length && length <= std::strlen(end) ? std::string(end, length) : mangled;
}

// Variables of the headers and of the runtime, and those that the compiler adds.
bool is_control(const char* name) {
  for (const char* ours : {"_ZL9threadIdx", "_ZL8blockIdx", "_ZL8blockDim", "_ZL7gridDim"})
    if (std::strcmp(name, ours) == 0) return true;
  for (const char* prefix : {"_ZN6hipcpu", "hipcpu_", "_ZGV", "_ZTH"})
    if (std::strncmp(name, prefix, std::strlen(prefix)) == 0) return true;
  return false;
}

void read_symbol(Library& library, const ElfW(Sym)& symbol, const char* name) {
  if (symbol.st_shndx == SHN_UNDEF) return;
  const auto type = ELF64_ST_TYPE(symbol.st_info);
  const auto is_here = [&](const Extent& part) { return symbol.st_value - part.begin < part.end - part.begin; };
  if (type == STT_TLS) {
    if (std::strcmp(name, "_ZL9threadIdx") == 0) library.place_offset = symbol.st_value;
    const Space space = is_control(name) ? Space::kOurs : Space::kShared;
    if (symbol.st_size) library.locals.push_back({symbol.st_value, symbol.st_size, plain_name(name), space});
  } else if (type == STT_OBJECT && std::any_of(library.data.begin(), library.data.end(), is_here)) {
    // A static variable of a device function is on the device.
    const bool is_ours = is_control(name) || std::strncmp(name, "_ZZ", 3) == 0;
    const Space space = is_ours ? Space::kModule : Space::kVariable;
    if (symbol.st_size) library.variables.push_back({symbol.st_value, symbol.st_size, plain_name(name), space});
  }
}

void read_symbols(Library& library, const char* image, size_t size) {
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(image);
  if (size < sizeof *header || std::memcmp(image, ELFMAG, SELFMAG) != 0) return;
  const auto* sections = reinterpret_cast<const ElfW(Shdr)*>(image + header->e_shoff);
  const char* section_names = image + sections[header->e_shstrndx].sh_offset;
  for (int i = 0; i < header->e_shnum; ++i) {
    const char* name = section_names + sections[i].sh_name;
    if (std::strcmp(name, ".data") == 0 || std::strcmp(name, ".bss") == 0)
      library.data.push_back({sections[i].sh_addr, sections[i].sh_addr + sections[i].sh_size});
  }
  for (int i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    const char* names = image + sections[sections[i].sh_link].sh_offset;
    const auto* symbols = reinterpret_cast<const ElfW(Sym)*>(image + sections[i].sh_offset);
    for (size_t n = 0; n < sections[i].sh_size / sizeof *symbols; ++n)
      read_symbol(library, symbols[n], names + symbols[n].st_name);
  }
}

void read_library(Library& library, const char* path) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (fd < 0 || fstat(fd, &status) != 0) return;
  const auto size = static_cast<size_t>(status.st_size);
  void* image = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (image == MAP_FAILED) return;
  read_symbols(library, static_cast<const char*>(image), size);
  munmap(image, size);
}

int find_image(dl_phdr_info* info, size_t, void* out) {
  auto& library = *static_cast<Library*>(out);
  if (info->dlpi_addr != reinterpret_cast<uintptr_t>(library.base)) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    library.image.end = std::max<uintptr_t>(library.image.end, info->dlpi_addr + part.p_vaddr + part.p_memsz);
  }
  library.image.begin = info->dlpi_addr;
  return 1;
}

void know_library(Library& library, const void* code) {
  Dl_info info{};
  if (dladdr(code, &info) == 0 || info.dli_fbase == library.base) return;
  library = {};
  library.base = info.dli_fbase;
  read_library(library, info.dli_fname);
  dl_iterate_phdr(find_image, &library);
}

// An existing region takes precedence: a variable that the host has registered is device memory.
void add(Places& p, const std::vector<Variable>& variables, uintptr_t base) {
  const size_t known = p.regions.size();
  for (const Variable& variable : variables) {
    const uintptr_t begin = base + variable.offset;
    const uintptr_t end = begin + variable.bytes;
    const auto overlaps = [&](const Region& region) { return region.begin < end && begin < region.end; };
    if (std::none_of(p.regions.begin(), p.regions.begin() + known, overlaps))
      p.regions.push_back({begin, end, variable.space, variable.name.c_str(), nullptr});
  }
}

// Writable data is known per variable, the rest as a whole.
void add_module(Places& p) {
  const Library& library = p.library;
  uintptr_t begin = library.image.begin;
  std::vector<Extent> parts = library.data;
  std::sort(parts.begin(), parts.end(), [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  for (const Extent& part : parts) {
    p.regions.push_back({begin, library.image.begin + part.begin, Space::kModule, nullptr, nullptr});
    begin = library.image.begin + part.end;
  }
  if (begin < library.image.end) p.regions.push_back({begin, library.image.end, Space::kModule, nullptr, nullptr});
  add(p, library.variables, library.image.begin);
}

void sort_regions(Places& p) {
  std::sort(p.regions.begin(), p.regions.end(), [](const Region& a, const Region& b) { return a.begin < b.begin; });
  p.last = nullptr;
}

int is_in_module(dl_phdr_info* info, size_t, void* address) {
  const auto at = *static_cast<const uintptr_t*>(address);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    const uintptr_t begin = info->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && at - begin < part.p_memsz) return 1;
  }
  return 0;
}

bool is_runtime_memory(uintptr_t address) {
  const Worker& worker = *now.worker;
  if (address - reinterpret_cast<uintptr_t>(worker.stacks) < kStacksBytes) return true;
  if (address - reinterpret_cast<uintptr_t>(&worker) < sizeof worker) return true;
  const auto here = reinterpret_cast<uintptr_t>(__builtin_thread_pointer());
  if (address + kThreadLocalBytes - here < 2 * kThreadLocalBytes) return true;
  return dl_iterate_phdr(is_in_module, &address) != 0;
}

bool is_near_dynamic_shared(uintptr_t address) {
  const auto end = reinterpret_cast<uintptr_t>(now.worker->shared_end);
  return address + kSharedBytes + kGuardBytes >= end && address < end + kGuardBytes;
}

uintptr_t distance_to(const Region& region, uintptr_t address) {
  if (address < region.begin) return region.begin - address;
  return address < region.end ? 0 : address - region.end;
}

// The named region next to an address: an access just outside an array hits the variables around it.
const Region* nearest(Space space, uintptr_t address) {
  const Region* nearest = nullptr;
  uintptr_t distance = kNearBytes;
  for (const Region& region : places().regions) {
    if (region.space != space || !region.name || distance_to(region, address) >= distance) continue;
    distance = distance_to(region, address);
    nearest = &region;
  }
  return nearest;
}

// Variables of the runtime, which the headers read.
bool is_thread_local_of_runtime(uintptr_t address) {
  const auto is_in = [&](const auto& variable) {
    return address - reinterpret_cast<uintptr_t>(&variable) < sizeof variable;
  };
  return is_in(hipcpu_team) || is_in(hipcpu_dynamic_shared);
}

void describe_step(Text& detail, uintptr_t address, const Region& region) {
  if (address >= region.end)
    detail << address - region.end << " bytes past the end of ";
  else if (address < region.begin)
    detail << region.begin - address << " bytes before the start of ";
  else
    detail << "across the end of ";
}

Region* nearest_global(uintptr_t address) {
  Region* nearest = nullptr;
  uintptr_t distance = 16 << 20;
  for (Region& region : places().regions) {
    if (region.space != Space::kGlobal || distance_to(region, address) >= distance) continue;
    distance = distance_to(region, address);
    nearest = &region;
  }
  return nearest;
}

}  // namespace

uintptr_t module_base() { return reinterpret_cast<uintptr_t>(places().library.base); }

void map_launch(const Worker& worker, const Launch& launch) {
  Places& p = places();
  know_library(p.library, reinterpret_cast<const void*>(launch.threads));
  p.regions.clear();
  for (const AllocationRange& range : live_allocations()) {
    Extent extent{range.begin, range.begin + range.allocation.bytes};
    const auto limit = p.limits.find(range.begin);
    if (limit != p.limits.end() && limit->second.end <= extent.end) extent = limit->second;
    p.regions.push_back({extent.begin, extent.end, Space::kGlobal, nullptr, nullptr});
  }
  if (const size_t bytes = launch.config.shared_bytes) {
    const uintptr_t begin = reinterpret_cast<uintptr_t>(worker.shared_end) - (bytes + 15) / 16 * 16;
    p.regions.push_back({begin, begin + bytes, Space::kShared, nullptr, nullptr});
  }
  add_module(p);
  if (p.library.block) add(p, p.library.locals, p.library.block);
  sort_regions(p);
}

void set_thread_index(const void* place) {
  Places& p = places();
  if (p.library.block) return;
  p.library.block = reinterpret_cast<uintptr_t>(place) - p.library.place_offset;
  add(p, p.library.locals, p.library.block);
  sort_regions(p);
}

Region* find_region(uintptr_t address) {
  Places& p = places();
  if (p.last && address - p.last->begin < p.last->end - p.last->begin) return p.last;
  auto after = std::upper_bound(p.regions.begin(), p.regions.end(), address,
                                [](uintptr_t at, const Region& region) { return at < region.begin; });
  if (after == p.regions.begin()) return nullptr;
  Region& region = *std::prev(after);
  if (address >= region.end) return nullptr;
  return p.last = &region;
}

void report_invalid_access(uintptr_t address, size_t bytes, bool write, uint32_t site) {
  Text detail;
  const Place here{thread(), now.serial, site, 0};
  const auto report = [&](const char* kind) {
    report_finding(kind, Certainty::kError, detail.data(), here, nullptr, address);
  };
  detail << (write ? "writes " : "reads ") << uint64_t{bytes} << " bytes ";
  if (address < kNullBytes) {
    detail << "through a null pointer";
    return report("null-pointer");
  }
  if (is_near_dynamic_shared(address)) {
    const size_t size = now.launch->config.shared_bytes;
    const uintptr_t begin = reinterpret_cast<uintptr_t>(now.worker->shared_end) - (size + 15) / 16 * 16;
    describe_step(detail, address, {begin, begin + size, Space::kShared, nullptr, nullptr});
    detail << "the launch's " << uint64_t{size} << " bytes of dynamic shared memory";
    return report("lds-out-of-bounds");
  }
  if (is_thread_local_of_runtime(address)) return;
  const auto describe_array = [&](const char* sort, const Region& array) {
    describe_step(detail, address, array);
    detail << "the " << sort << " `" << array.name << "` of " << uint64_t{array.end - array.begin} << " bytes";
  };
  if (const Region* array = nearest(Space::kShared, address)) {
    describe_array("shared array", *array);
    return report("lds-out-of-bounds");
  }
  if (const Region* variable = nearest(Space::kVariable, address)) {
    describe_array("variable", *variable);
    return report("out-of-bounds");
  }
  if (is_runtime_memory(address)) return;
  const Neighbor neighbor = neighbor_of(address);
  if (neighbor.relation == Neighbor::Relation::kFreed) {
    detail << neighbor.distance << " bytes into a buffer of " << neighbor.bytes << " bytes that has been freed";
    return report("use-after-free");
  }
  if (const Region* near = nearest_global(address)) {
    describe_step(detail, address, *near);
    detail << "a buffer of " << uint64_t{near->end - near->begin} << " bytes";
    return report("out-of-bounds");
  }
  detail << "of host memory: the pointer was not returned by hipMalloc";
  report("host-pointer");
}

}  // namespace hipcpu::checks

extern "C" void hipcpu_limit(const void* pointer, size_t bytes) {
  using namespace hipcpu;
  AllocationRange range;
  if (!find_allocation(pointer, &range)) return;
  const auto begin = reinterpret_cast<uintptr_t>(pointer);
  checks::places().limits[range.begin] = {begin, begin + bytes};
}
