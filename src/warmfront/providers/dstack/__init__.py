"""The `dstack` provider. Only this package uses dstack: its client, fleets, runs and configurations."""
