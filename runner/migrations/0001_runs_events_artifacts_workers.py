import uuid

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="WorkerNode",
            fields=[
                ("name", models.CharField(max_length=120, primary_key=True, serialize=False)),
                ("queue", models.CharField(choices=[("gpu", "Gpu"), ("cpu", "Cpu")], max_length=8)),
                ("device_name", models.CharField(blank=True, max_length=120)),
                ("driver", models.CharField(blank=True, max_length=60)),
                ("torch", models.CharField(blank=True, max_length=60)),
                ("triton", models.CharField(blank=True, max_length=60)),
                ("sandbox", models.CharField(blank=True, max_length=30)),
                ("slots", models.PositiveSmallIntegerField(default=1)),
                ("heartbeat_at", models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.CreateModel(
            name="Run",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("procedure", models.CharField(max_length=100)),
                ("parameters", models.JSONField(default=dict)),
                ("version", models.PositiveSmallIntegerField(default=1)),
                (
                    "device",
                    models.CharField(choices=[("gpu", "Gpu"), ("cpu", "Cpu")], max_length=8),
                ),
                ("course", models.CharField(blank=True, max_length=80)),
                ("lesson", models.CharField(blank=True, max_length=80)),
                ("step", models.CharField(blank=True, max_length=80)),
                (
                    "state",
                    models.CharField(
                        choices=[("queued", "Queued"), ("running", "Running"), ("ended", "Ended")],
                        default="queued",
                        max_length=8,
                    ),
                ),
                (
                    "outcome",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("passed", "passed"),
                            ("failed", "failed"),
                            ("error_in_code", "error_in_code"),
                            ("out_of_memory", "out_of_memory"),
                            ("timed_out", "timed_out"),
                            ("cancelled", "cancelled"),
                            ("infrastructure_failure", "infrastructure_failure"),
                        ],
                        max_length=24,
                    ),
                ),
                ("attempt", models.PositiveSmallIntegerField(default=0)),
                ("tries", models.PositiveSmallIntegerField(default=0)),
                ("resumes", models.JSONField(null=True)),
                ("worker", models.CharField(blank=True, max_length=120)),
                ("lease_until", models.DateTimeField(null=True)),
                ("enqueued_at", models.DateTimeField(null=True)),
                ("stop_requested_at", models.DateTimeField(null=True)),
                ("checkpoint_requested_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("started_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                ("last_seq", models.PositiveIntegerField(default=0)),
                ("made", models.JSONField(default=dict)),
                ("note", models.JSONField(default=dict)),
                ("passed", models.PositiveIntegerField(null=True)),
                ("failed", models.PositiveIntegerField(null=True)),
                ("is_recording", models.BooleanField(default=False)),
                (
                    "rerun_of",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="reruns",
                        to="runner.run",
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="runs",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="RunArtifact",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                ("media", models.CharField(max_length=100)),
                ("bytes", models.PositiveBigIntegerField()),
                ("sha256", models.CharField(max_length=64)),
                ("file", models.FileField(blank=True, max_length=300, upload_to="")),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        db_index=False,
                        related_name="artifacts",
                        to="runner.run",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="StoredEvent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("seq", models.PositiveIntegerField()),
                ("kind", models.CharField(max_length=12)),
                ("at", models.CharField(max_length=30)),
                ("data", models.JSONField()),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        db_index=False,
                        related_name="events",
                        to="runner.run",
                    ),
                ),
            ],
            options={
                "ordering": ["seq"],
            },
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(fields=["state", "device", "created_at"], name="run_queue"),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(fields=["owner", "-created_at"], name="run_history"),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(fields=["procedure", "device", "-ended_at"], name="run_durations"),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "ended"), _negated=True),
                fields=("owner",),
                name="one_active_run_a_person",
            ),
        ),
        migrations.AddConstraint(
            model_name="runartifact",
            constraint=models.UniqueConstraint(fields=("run", "name"), name="one_artifact_a_name"),
        ),
        migrations.AddConstraint(
            model_name="storedevent",
            constraint=models.UniqueConstraint(fields=("run", "seq"), name="one_event_a_number"),
        ),
    ]
