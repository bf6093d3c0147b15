"""The `local` provider: each VM is a listener process on this machine."""
