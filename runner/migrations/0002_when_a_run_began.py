from django.db import migrations, models
from django.db.models import F


def from_the_attempt_known(apps, schema_editor):  # type: ignore[no-untyped-def]
    apps.get_model("runner", "Run").objects.update(began_at=F("started_at"))


class Migration(migrations.Migration):
    dependencies = [("runner", "0001_runs_events_artifacts_workers")]
    operations = [
        migrations.AddField("run", "began_at", models.DateTimeField(null=True)),
        migrations.RunPython(from_the_attempt_known, migrations.RunPython.noop),
    ]
