"""The control plane on virtual time: thousands of worlds, each with its own faults."""
