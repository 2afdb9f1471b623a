"""Artifacts on S3-compatible storage, chosen by settings alone (against an imitation of S3)."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import boto3
import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils.module_loading import import_string
from moto import mock_aws

from kernels.registry import get
from runner.models import RunArtifact
from runner.starting import prepare
from tests.runner.test_starting import a_claim, a_training, with_checkpoints

PRINT = (
    "import json; from chainrule import settings; print(json.dumps(settings.STORAGES['default']))"
)


@pytest.fixture
def configured() -> dict[str, Any]:
    """What settings make of the environment of a site with a bucket."""
    given = {"S3_BUCKET": "chainrule", "S3_ACCESS_KEY": "a", "S3_SECRET_KEY": "b"}
    environment = os.environ | given | {"S3_REGION": "us-east-1"}
    answer = subprocess.run(
        [sys.executable, "-c", PRINT], env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(answer.stdout)


def test_a_bucket_in_the_environment_keeps_the_files(configured: dict[str, Any]) -> None:
    with mock_aws():
        boto3.client("s3", region_name="us-east-1").create_bucket(Bucket="chainrule")
        storage = import_string(configured["BACKEND"])(**configured["OPTIONS"])
        name = storage.save("runs/1/step_000010.bin", ContentFile(b"\0\1\2"))
        assert storage.size(name) == 3
        assert storage.open(name).read() == b"\0\1\2"
        storage.delete(name)
        assert not storage.exists(name)


@pytest.mark.django_db
def test_a_training_goes_on_from_a_checkpoint_in_a_bucket(
    configured: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with mock_aws():
        boto3.client("s3", region_name="us-east-1").create_bucket(Bucket="chainrule")
        storage = import_string(configured["BACKEND"])(**configured["OPTIONS"])
        monkeypatch.setattr(default_storage, "_wrapped", storage)
        run = with_checkpoints(a_training(), 10, 20)
        storage.delete(RunArtifact.objects.get(run=run, name="step_000020.bin").file.name)
        start = prepare(a_claim(run), get("andrea.train"), tmp_path)
    assert [note.code for note in start.notes] == [
        *("log.checkpoint-damaged", "log.resumed-after-restart"),
    ]
    assert (tmp_path / "step_000010.bin").read_bytes() == b"weights of 10"
