"""The `dstack` provider. Only this package knows dstack: its client, fleets, runs and configurations."""
