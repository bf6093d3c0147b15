"""Kernels with one planted bug each, kernels with none, and what the bug finder makes of both."""
