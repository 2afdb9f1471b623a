"""Artifacts on S3-compatible storage, chosen by settings alone (against an imitation of S3)."""

import json
import os
import subprocess
import sys
from typing import Any

import boto3
import pytest
from django.core.files.base import ContentFile
from django.utils.module_loading import import_string
from moto import mock_aws

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
