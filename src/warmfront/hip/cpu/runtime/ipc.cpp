// hipIpc*: device memory that two processes share, as ranges of files. The format of a handle is in ipc_handle.h.
#include <cstdlib>
#include <cstring>
#include <string>

#include <hip/hip_runtime_api.h>
#include <hipcpu/hooks.h>
#include <hipcpu/ipc_handle.h>

#include "memory.h"
#include "status.h"
#include "stub_gpu.h"

namespace hipcpu {

namespace {

std::string& directory() {
  static std::string& only = *new std::string;
  return only;
}

// The file that a handle names; empty if the handle is invalid.
std::string path_of(const IpcHandle& handle) {
  if (handle.magic != kIpcMagic || handle.bytes == 0 || handle.offset % kIpcPageBytes != 0) return "";
  if (handle.name_bytes == 0 || handle.name_bytes >= kIpcNameBytes) return "";
  const std::string name(handle.name, handle.name_bytes);
  const bool plain = name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
  if (!plain || name == "." || name == "..") return "";
  const char* from_environment = std::getenv("HIPCPU_IPC_DIR");
  const std::string folder = !directory().empty() ? directory() : from_environment ? from_environment : "";
  return folder.empty() ? "" : folder + "/" + name;
}

hipError_t open_handle(void** pointer, const IpcHandle& handle, unsigned flags) {
  const stub::Call call;
  if (call.error() != hipSuccess) return call.error();
  if (!pointer || flags != hipIpcMemLazyEnablePeerAccess) return hipErrorInvalidValue;
  *pointer = nullptr;
  const std::string path = path_of(handle);
  if (path.empty()) return hipErrorInvalidHandle;
  for (const AllocationRange& range : live_allocations()) {
    const auto& file = range.allocation.file;
    if (file && !file->imported && file->path == path) return hipErrorInvalidContext;  // exported by this process
  }
  return open_shared(pointer, handle.bytes, {path, handle.offset, true});
}

hipError_t get_handle(hipIpcMemHandle_t* handle, void* pointer) {
  const stub::Call call;
  if (call.error() != hipSuccess) return call.error();
  AllocationRange range;
  if (!handle || !pointer || !find_allocation(pointer, &range)) return hipErrorInvalidValue;
  if (range.begin != reinterpret_cast<uintptr_t>(pointer)) return hipErrorInvalidValue;
  if (const hipError_t error = export_shared(pointer); error != hipSuccess) return error;
  find_allocation(pointer, &range);
  const auto& file = range.allocation.file;
  const std::string name = file->path.substr(file->path.rfind('/') + 1);
  IpcHandle content{kIpcMagic, static_cast<uint32_t>(name.size()), file->offset, range.allocation.bytes, {}};
  name.copy(content.name, kIpcNameBytes - 1);
  std::memcpy(handle, &content, sizeof content);
  return hipSuccess;
}

}  // namespace
}  // namespace hipcpu

using namespace hipcpu;

extern "C" {

void hipcpu_ipc_directory(const char* path) { directory() = path ? path : ""; }
void hipcpu_ipc_export(const char* path) { export_to(path ? path : ""); }

hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t* handle, void* pointer) {
  return set_last_error(get_handle(handle, pointer));
}

hipError_t hipIpcOpenMemHandle(void** pointer, hipIpcMemHandle_t handle, unsigned flags) {
  IpcHandle content;
  static_assert(sizeof content == sizeof handle);
  std::memcpy(&content, &handle, sizeof content);
  return set_last_error(open_handle(pointer, content, flags));
}

hipError_t hipIpcCloseMemHandle(void* pointer) { return set_last_error(close_shared(pointer)); }
}
