"""Triggers that keep the audit as it was written, whoever writes to the database.

Allowed: taking an actor out (they were erased), a guest's entries passing to the account they
became, and a demonstration cohort going with its entries.
"""

from typing import Any

from django.db import migrations

KEPT = "EXISTS (SELECT 1 FROM classroom_cohort WHERE id = OLD.cohort_id AND NOT is_demo)"
GUEST = "EXISTS (SELECT 1 FROM accounts_person WHERE id = OLD.actor_id AND is_guest)"
SAME = """NEW.id = OLD.id AND NEW.cohort_id = OLD.cohort_id AND NEW.action = OLD.action
    AND NEW.subject = OLD.subject AND NEW.at = OLD.at AND {data}
    AND OLD.actor_id IS NOT NULL AND (NEW.actor_id IS NULL OR {guest})"""

SQLITE = [
    f"""CREATE TRIGGER audit_entry_not_deleted BEFORE DELETE ON classroom_auditentry
    WHEN {KEPT}
    BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END""",
    f"""CREATE TRIGGER audit_entry_not_changed BEFORE UPDATE ON classroom_auditentry
    WHEN NOT ({SAME.format(data="NEW.data = OLD.data", guest=GUEST)})
    BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END""",
]
POSTGRESQL = [
    f"""CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF TG_OP = 'DELETE' THEN
            IF {KEPT} THEN RAISE EXCEPTION 'the audit is append-only'; END IF;
            RETURN OLD;
        END IF;
        IF NOT ({SAME.format(data="NEW.data::text = OLD.data::text", guest=GUEST)}) THEN
            RAISE EXCEPTION 'the audit is append-only';
        END IF;
        RETURN NEW;
    END $$""",
    """CREATE TRIGGER audit_entry_kept BEFORE UPDATE OR DELETE ON classroom_auditentry
    FOR EACH ROW EXECUTE FUNCTION audit_is_append_only()""",
]
GONE = {
    "sqlite": ["DROP TRIGGER audit_entry_not_deleted", "DROP TRIGGER audit_entry_not_changed"],
    "postgresql": [
        "DROP TRIGGER audit_entry_kept ON classroom_auditentry",
        "DROP FUNCTION audit_is_append_only()",
    ],
}
MADE = {"sqlite": SQLITE, "postgresql": POSTGRESQL}


def make(apps: Any, editor: Any) -> None:
    for statement in MADE[editor.connection.vendor]:
        editor.execute(statement, params=None)


def remove(apps: Any, editor: Any) -> None:
    for statement in GONE[editor.connection.vendor]:
        editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = [("classroom", "0001_cohorts_grades_records"), ("accounts", "0001_initial")]
    operations = [migrations.RunPython(make, remove)]
