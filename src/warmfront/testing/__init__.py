"""What we and our users test with: virtual time, a simulated cloud, simulated listeners, seeded faults."""
