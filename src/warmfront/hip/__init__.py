"""HIP toolchains: the CPU runtime and ROCm, the X-ray, and their common parts."""
