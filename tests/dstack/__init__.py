"""Tests against the real dstack server, with the fake cloud behind it."""
