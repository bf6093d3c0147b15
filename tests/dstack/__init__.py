"""Tests against the real dstack server, with the simulated cloud behind it."""
