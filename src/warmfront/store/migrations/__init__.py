"""The history of the tables, for Alembic: one file per change in `versions`."""
