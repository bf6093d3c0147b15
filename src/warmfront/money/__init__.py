"""Dollars: billing models, the ledger, escrow. Decimal all through; nothing here waits or calls anyone."""
