"""Tests against the real compilers and headers of ROCm."""
