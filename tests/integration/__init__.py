"""Tests with real compilers, sandboxes and daemons."""
