"""A control plane in virtual time with seeded faults; `python -m tests.support.world SEED` replays one."""
