"""Warmfront judges HIP kernels: it proves whether one is right and measures how fast it is."""

__version__ = "0.1.0"
