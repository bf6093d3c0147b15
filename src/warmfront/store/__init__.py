"""Everything that must survive a crash: submissions, events, attempts, VMs, the ledger, API keys."""
