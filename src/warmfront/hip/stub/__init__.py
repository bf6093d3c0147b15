"""The stub GPU: the CPU runtime with a model of a GPU's latencies and faults, on virtual time.

- `stub_spec.py`: the parameters, from the setting WARMFRONT_STUB_GPU.
- `stub_device.py`: the devices of one machine: the file with their virtual time, and the folder of their
  memory.
- `stub_toolchain.py`: the toolchain `stub`, which uses the harness and IPC as `rocm` does.
- `oracle.py`: kernels whose results are known, for benchmarks at the data size of a GPU.

The model itself is `hip/cpu/runtime/stub_gpu.cpp`; docs/stub-gpu.md describes it.
"""
