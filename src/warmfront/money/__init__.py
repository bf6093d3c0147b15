"""Money: billing models, escrow, forecasts. Amounts are `Decimal`; nothing in here waits or makes requests."""
