"""HIP toolchains: the CPU runtime and ROCm, the X-ray, and what they share."""
