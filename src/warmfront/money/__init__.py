"""Money: billing models, escrow, forecasts. Amounts are `Decimal`; nothing here waits or makes requests."""
