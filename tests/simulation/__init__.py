"""The control plane in virtual time: thousands of worlds, each with its own faults."""
