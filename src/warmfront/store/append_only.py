"""Triggers that make the audit log append-only, for each kind of database.

An UPDATE, a DELETE and (on PostgreSQL) a TRUNCATE fail, and an INSERT must continue the numbers in `seq`, so
that SQLite's INSERT OR REPLACE cannot replace a row either. Only the owner of the database can drop the
triggers; if they do, the hash chain of the audit log reveals changes.
"""

from __future__ import annotations

_SQLITE = """
CREATE TRIGGER audit_log_no_update BEFORE UPDATE ON audit_log
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END

CREATE TRIGGER audit_log_no_delete BEFORE DELETE ON audit_log
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END

CREATE TRIGGER audit_log_no_gap BEFORE INSERT ON audit_log
WHEN NEW.seq <> (SELECT coalesce(max(seq), 0) + 1 FROM audit_log)
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END
"""

#: 23001 is the code of a restrict violation, which drivers report as an integrity error.
_POSTGRESQL = """
CREATE FUNCTION audit_log_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = '23001'; END $$

CREATE FUNCTION audit_log_follow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
IF NEW.seq <> (SELECT coalesce(max(seq), 0) + 1 FROM audit_log) THEN
RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = '23001';
END IF;
RETURN NEW;
END $$

CREATE TRIGGER audit_log_no_change BEFORE UPDATE OR DELETE ON audit_log
FOR EACH ROW EXECUTE FUNCTION audit_log_refuse()

CREATE TRIGGER audit_log_no_truncate BEFORE TRUNCATE ON audit_log
FOR EACH STATEMENT EXECUTE FUNCTION audit_log_refuse()

CREATE TRIGGER audit_log_no_gap BEFORE INSERT ON audit_log
FOR EACH ROW EXECUTE FUNCTION audit_log_follow()
"""


def audit_log_triggers(dialect: str) -> list[str]:
    """Return the SQL statements that make the audit log append-only on this kind of database."""
    statements = _POSTGRESQL if dialect == "postgresql" else _SQLITE
    return statements.strip().split("\n\n")
