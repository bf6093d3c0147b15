// The interface of the runtime for the program that loads the submission. Kernels do not use it.
#pragma once

#include <cstddef>

extern "C" {
// The number of kernels that this process has launched; rejected launches do not count.
unsigned long long hipcpu_launch_count(void);

// `receive` is called with a JSON object when the program faults, before the process ends. It runs in a signal
// handler. By default the object is written to stderr as one line.
//
//   {"fault": kind, "kernel": name, "line": of the launch, "block": [x,y,z], "thread": [x,y,z], "detail": text,
//    "address": of the access, or 0}
//
// kernel, line, block and thread are null for a fault in host code; only thread is null if it is unknown.
// The kinds: memory-fault, misaligned-access, stack-overflow, division-by-zero, matrix-instruction, assertion, abort,
// host-fault, host-access-to-device-memory, unsupported (it runs on a GPU only), internal (the machine failed, such as
// by running out of memory). The exit code is 128 plus the number of the signal, and 70 for internal. On aarch64,
// division by zero and misaligned accesses do not fault.
void hipcpu_on_fault(void (*receive)(const char* json, size_t length));

// With `on`, memory from hipMalloc is accessible only while a kernel, a copy or a fill runs, so that host code that
// dereferences a device pointer faults as it does with a GPU. Managed and pinned memory is never protected. Off by
// default, because it costs two system calls per allocation and launch.
void hipcpu_protect_device_memory(int on);

// From now on, kernels may access only these allocations of the existing device memory, and later
// allocations; with a count of 0, all of it again. This takes effect while device memory is protected, and
// makes protection cheaper, because a launch then changes only the pages of these allocations.
void hipcpu_use_only(void* const* pointers, size_t count);

// From now on, and in all threads, only this runtime can change the mappings of device memory, and the
// handlers of SIGSEGV and SIGBUS cannot be replaced. Call it before a submission is loaded. Returns 0, or an
// error number if the system refuses. It stops submitted host code that calls mprotect, but not code that
// searches this process for other ways.
int hipcpu_seal_device_memory(void);

// From now on, no memory can become executable, so that code cannot be replaced. Call it after a submission
// is loaded. Returns 0, or an error number.
int hipcpu_seal_code(void);

// The folder with the files that hipIpcOpenMemHandle maps; by default that of the variable HIPCPU_IPC_DIR.
void hipcpu_ipc_directory(const char* path);

// From now on, hipIpcGetMemHandle exports memory as a file of this folder; null ends that. Other memory has no file. A
// file is removed when its memory is freed, or when a process exports memory in this folder after its owner has ended.
void hipcpu_ipc_export(const char* path);

// Kernels run on at most this many workers from now on; 1 is the launching thread alone. Timed calls use one, so that
// their CPU time depends neither on the number of cores nor on how fast a worker wakes.
void hipcpu_limit_workers(unsigned limit);

// Starts the workers, so that the first launch does not have to.
void hipcpu_start_workers(void);

#ifdef HIPCPU_CHECKED
// Only in a checked build: findings are written to `path`, an existing file, unbuffered, one JSON object per line.
//
//   {"kind": name, "severity": error|warning|suspect, "detail": text, "kernel": name, "launch_line": n,
//    "line": n or 0, "pcs": [offsets in the library, innermost first], "block": [x,y,z], "thread": [x,y,z],
//    the last four also as "other_..." if a second thread is involved, "address": n or 0}
void hipcpu_findings_to(const char* path);
// Kernels may access `bytes` from `pointer` on, and nothing else of the allocation that contains it.
void hipcpu_limit(const void* pointer, size_t bytes);
// After this many steps (accesses of kernels, and waits) the process ends with a last finding, "ran-out".
void hipcpu_limit_steps(unsigned long long count);
#endif
}
