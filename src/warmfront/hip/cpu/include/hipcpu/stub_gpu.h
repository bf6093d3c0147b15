// Oracle kernels of the stub GPU, for our own benchmarks. Submissions cannot use them: their names are refused.
//
// An oracle kernel computes nothing. It finds the answer to its inputs, which warmfront/hip/stub/oracle.py has
// published, copies it to its outputs, and takes as long on the device's timeline as the answer says.
#pragma once

#include <hip/hip_runtime_api.h>

struct hipcpu_oracle_tensor {
  const void* pointer;
  bool is_output;
};

extern "C" {
// hipErrorNotFound if no answer for these inputs was published; hipErrorNotSupported without a stub GPU.
hipError_t hipcpu_launch_oracle(const hipcpu_oracle_tensor* tensors, size_t count, hipStream_t stream);
}
