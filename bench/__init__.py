"""Benchmarks: every figure that the documentation quotes, measured in one run."""
