"""Brings a database's tables from whatever version they have to ours. It never goes back."""

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


def upgrade(c: Connection) -> None:
    """Run the migrations that this database has not seen, all or none of them."""
    found = revision(c)
    if found == REVISION:
        return
    # Here, not above: it takes longer to load than a database that is up to date takes to open.
    from alembic import command  # noqa: PLC0415 - see above
    from alembic.script import ScriptDirectory  # noqa: PLC0415 - see above

    config = alembic_config(c)
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if found is not None and found not in known:
        raise StoreUnavailable(
            f"The database is of version {found}, which this Warmfront does not know: a newer one made it.",
            hint="Install that version again, or a later one.",
        )
    command.upgrade(config, "head")


def is_current(c: Connection) -> bool:
    """Whether the tables are the ones that this version knows."""
    return revision(c) == REVISION


def revision(c: Connection) -> str | None:
    """The version of the database's tables; None if there are none yet."""
    if not inspect(c).has_table("alembic_version"):
        return None
    found = c.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return None if found is None else str(found)


def alembic_config(c: Connection) -> Config:
    """What Alembic wants to know, for `migrations/env.py`; there is no file to configure it by."""
    from alembic.config import Config  # noqa: PLC0415 - see `upgrade`

    config = Config(attributes={"connection": c})
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    return config
