"""The service on the VM: it takes attempts, has them judged one at a time, and streams what happens."""
