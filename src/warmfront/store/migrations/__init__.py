"""How the tables came to be, one file in `versions` a change; Alembic reads it."""
