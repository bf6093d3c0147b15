"""What must survive: submissions, events, attempts, VMs, ledger, keys."""
