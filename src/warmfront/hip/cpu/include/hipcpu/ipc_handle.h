// The content of a hipIpcMemHandle_t on the CPU runtime: a range of a file that processes share.
//
// The judge writes such handles itself; warmfront/hip/cpu/ipc_handle.py has the same layout.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hipcpu {

constexpr uint32_t kIpcMagic = 0x31495057;  // "WPI1"
constexpr size_t kIpcPageBytes = 4096;      // offsets and sizes in the file are multiples of this
constexpr size_t kIpcAlignBytes = 16;       // of an allocation's first byte
constexpr size_t kIpcNameBytes = 40;

// The file has `round_up(bytes, 4096)` bytes for the allocation, from `offset` on. The allocation is at their end,
// so that it ends at a guard page wherever it is mapped: its first byte is at
// `offset + round_up(bytes, 4096) - round_up(bytes, 16)`.
struct IpcHandle {
  uint32_t magic;
  uint32_t name_bytes;  // at least 1, at most 39
  uint64_t offset;      // in the file; a multiple of 4096
  uint64_t bytes;       // the size of the allocation
  char name[kIpcNameBytes];  // of a file in the folder that hipcpu_ipc_directory names: no '/'
};
static_assert(sizeof(IpcHandle) == 64);

}  // namespace hipcpu
