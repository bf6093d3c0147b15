"""Run the migrations on the connection and in the transaction of the caller."""

from __future__ import annotations

from alembic import context

from warmfront.store.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
