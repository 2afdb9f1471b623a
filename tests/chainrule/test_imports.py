"""What each entry point may and may not import."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = "import os; os.environ['DJANGO_SETTINGS_MODULE'] = 'chainrule.settings'; "
ENTRY_POINTS = {
    "manage.py": "import manage",
    "web": "import chainrule.asgi",
    "worker": SETTINGS + "import chainrule.celery, django; django.setup(); import runner.tasks",
    "kernels": "import kernels.terminal, kernels.execution",
    "zygote": "import runner.zygote",
    "pytest": SETTINGS + "import tests.conftest",
}


def run(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.mark.parametrize("entry", ENTRY_POINTS)
def test_platform_is_the_standard_library_from_every_entry_point(entry: str) -> None:
    answer = run(f"{ENTRY_POINTS[entry]}; import platform; print(platform.python_version())")
    assert answer == sys.version.split()[0]


def test_platform_folder_is_no_package() -> None:
    assert not (ROOT / "platform" / "__init__.py").exists()


@pytest.mark.parametrize("entry", ["web", "worker", "manage.py"])
def test_no_torch_and_no_triton_outside_the_child(entry: str) -> None:
    """The pages, too: their views are imported with the addresses."""
    pages = "from django.urls import get_resolver; get_resolver().url_patterns; "
    setup = SETTINGS + "import django; django.setup(); " + pages
    heavy = "[m for m in ('torch', 'triton', 'matplotlib', 'numpy') if m in sys.modules]"
    assert run(f"import sys; {setup}{ENTRY_POINTS[entry]}; print({heavy})") == "[]"
