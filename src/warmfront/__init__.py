"""Warmfront judges HIP kernels: it checks whether they are correct and measures how fast they are."""

__version__ = "0.1.0"
