"""What every panel of a page shares, for the page's script: words, messages and addresses."""

import uuid
from functools import cache
from typing import Any

from django.templatetags.static import static
from django.urls import reverse
from django.utils.translation import get_language

from kernels.marking import Counted
from runner import api
from runner.training import scoring
from runner.words import words

ANY_RUN = uuid.UUID(int=0)


def shared_data() -> dict[str, Any]:
    language = get_language() or "en"
    return {
        "language": language,
        "words": words(language),
        "messages": {code: forms(text) for code, text in api.messages(language).items()},
        "run_url": reverse("runner:run", args=[ANY_RUN]),
        "any_run": str(ANY_RUN),
        "socket": f"/ws/runs/{ANY_RUN}/",
        "plot": plot_files(),
        "scoring": scoring(),
    }


def forms(text: str) -> str | dict[str, str]:
    """A message as the page's script takes it: a counted one with both its forms."""
    if not isinstance(text, Counted):
        return text
    return {"by": text.by, "one": text.one, "other": str(text)}


@cache
def plot_files() -> dict[str, str]:
    return {
        "script": static("vendor/uplot/uPlot.iife.min.js"),
        "style": static("vendor/uplot/uPlot.min.css"),
    }
