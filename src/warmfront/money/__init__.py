"""Billing models, escrow and forecasts. Amounts are `Decimal`; this package does no I/O."""
