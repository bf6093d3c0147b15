// What the program that hosts a submission may ask of the runtime. Nothing here is for kernels.
#pragma once

#include <cstddef>

extern "C" {
// Kernels launched so far by this process; refused launches do not count.
unsigned long long hipcpu_launch_count(void);

// `receive` gets one JSON object when the program faults, before the process ends. It runs in a signal
// handler. By default the object goes to stderr as one line.
//
//   {"fault": kind, "kernel": name, "line": of the launch, "block": [x,y,z], "thread": [x,y,z], "detail": text,
//    "address": that was touched, or 0}
//
// kernel, line, block and thread are null for a fault of host code; thread alone where it cannot be known.
// The kinds: memory-fault, misaligned-access, stack-overflow, division-by-zero, assertion, abort, host-fault,
// host-access-to-device-memory, unsupported (it runs on a GPU only), internal (the machine could not do its
// part). The exit code is 128 and the signal's number, 70 for internal. An aarch64 machine neither faults on a
// division by zero nor on a misaligned access.
void hipcpu_on_fault(void (*receive)(const char* json, size_t length));

// With `on`, memory of hipMalloc can be touched only while a kernel, a copy or a fill runs, so that host
// code that dereferences a device pointer faults as it does with a GPU. Managed and pinned memory is never
// protected. Off at first, as it costs two system calls for each allocation and launch.
void hipcpu_protect_device_memory(int on);

// Starts the workers, so that the first launch does not pay for it.
void hipcpu_start_workers(void);

#ifdef HIPCPU_CHECKED
// Only in a checked build, whose findings go to `path`, a file that exists: one JSON object a line, at once.
//
//   {"kind": name, "severity": error|warning|suspect, "detail": text, "kernel": name, "launch_line": n,
//    "line": n or 0, "pcs": [offsets in the library, innermost first], "block": [x,y,z], "thread": [x,y,z],
//    the last four again as "other_..." where there is another thread to it, "address": n or 0}
void hipcpu_findings_to(const char* path);
// Kernels may touch `bytes` from `pointer` on, and nothing else of the allocation that it points into.
void hipcpu_limit(const void* pointer, size_t bytes);
// After so many steps (accesses of kernels, and waits) the process ends, with a last finding "ran-out".
void hipcpu_limit_steps(unsigned long long count);
#endif
}
