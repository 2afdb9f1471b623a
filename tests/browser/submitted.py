"""Queues a training so small that Triton's interpreter makes a step of it in a blink, for a new
guest: `python -m tests.browser.submitted`. Prints the session and the id of the Run as JSON."""

import json
import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chainrule.settings")
django.setup()

from accounts.models import Person  # noqa: E402
from runner import api  # noqa: E402
from tests.browser.made import session  # noqa: E402

SMALL = {
    "config": "micro", "width": 16, "heads": 1, "layers": 1, "context": 16, "batch": 1,
    "steps": 400, "sample_every": 2, "checkpoint_every": 200, "sample_tokens": 12,
}  # fmt: skip


def main() -> None:
    person = Person.objects.create_guest("en")
    run = api.submit(person, "andrea.train", parameters=SMALL, device="cpu")
    json.dump({"session": session(person), "run": str(run.id)}, sys.stdout)


if __name__ == "__main__":
    main()
