"""Toolchains that turn HIP source into something that runs: the CPU runtime and ROCm."""
