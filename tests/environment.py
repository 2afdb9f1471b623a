"""Loaded before Django's settings (see pyproject.toml): tests keep to a folder of their own."""

import os
import tempfile

os.environ["DATA_DIR"] = tempfile.mkdtemp(prefix="chainrule-test-")
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"  # Playwright keeps a loop running in the test thread
for name in ("REDIS_URL", "DEBUG", "HTTPS", "PORT"):
    os.environ.pop(name, None)
