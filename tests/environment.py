"""Loaded before Django's settings (see pyproject.toml): tests keep to a folder of their own."""

import os
import tempfile

SETTINGS = (
    *("ALLOWED_HOSTS", "COURSES_DIR", "CSRF_TRUSTED_ORIGINS", "DEBUG", "GUESTS_PER_HOUR"),
    *("GUEST_RUNS_PER_DAY", "HOST", "HTTPS", "LOG_LEVEL", "PORT", "REDIS_POOL", "REDIS_URL"),
    *("DATABASE_POOL", "SOCKETS_EACH"),
    *("RUNS_PER_DAY", "RUN_FILES_MB", "RUN_GRACE_SECONDS", "RUN_MEMORY_MB", "RUNNER_REGISTRY"),
    *("SECRET_KEY", "TRAINING_FILES_MB", "TRUSTED_PROXIES"),
)
os.environ["DATA_DIR"] = tempfile.mkdtemp(prefix="chainrule-test-")
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"  # Playwright keeps a loop running in the test thread
for name in tuple(os.environ):  # what the shell sets for a site of its own (DATABASE_URL may stay)
    if name in SETTINGS or name.startswith(("EMAIL_", "S3_")):
        del os.environ[name]
