"""Upgrade the tables of a database to the current version. There are no downgrades."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import inspect, text

from warmfront.errors import StoreUnavailable
from warmfront.store.schema import REVISION

if TYPE_CHECKING:
    from alembic.config import Config
    from sqlalchemy import Connection

MIGRATIONS = Path(__file__).parent / "migrations"


def upgrade(conn: Connection) -> None:
    """Run the missing migrations, all or none of them."""
    current = revision(conn)
    if current == REVISION:
        return
    # Imported here: importing Alembic takes longer than opening a database that is up to date.
    from alembic import command  # noqa: PLC0415 - see above
    from alembic.script import ScriptDirectory  # noqa: PLC0415 - see above

    config = alembic_config(conn)
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if current is not None and current not in known:
        raise StoreUnavailable(
            f"The database has schema version {current}, which this version of Warmfront does not support.",
            hint="A newer version created it: install that version or a later one.",
        )
    command.upgrade(config, "head")


def is_current(conn: Connection) -> bool:
    """Return whether the tables have the current version."""
    return revision(conn) == REVISION


def revision(conn: Connection) -> str | None:
    """Return the version of the tables; None if there are none yet."""
    if not inspect(conn).has_table("alembic_version"):
        return None
    version = conn.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return None if version is None else str(version)


def alembic_config(conn: Connection) -> Config:
    """Return the configuration of Alembic, built in code instead of read from a file."""
    from alembic.config import Config  # noqa: PLC0415 - see `upgrade`

    config = Config(attributes={"connection": conn})
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    return config
