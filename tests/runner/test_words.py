"""Every sentence that the runner says exists, in every language."""

import re
from pathlib import Path

import pytest
from django.conf import settings

import runner
from kernels.andrea.names import ANDREA_NAMES
from kernels.events import Outcome
from kernels.messages import MESSAGES
from kernels.names import NAMES
from runner import api

_FOLDER = Path(runner.__file__).parent
_CODE = re.compile(r'Note\(\s*"([a-z.-]+)"')


def codes() -> set[str]:
    written = {code for file in _FOLDER.glob("*.py") for code in _CODE.findall(file.read_text())}
    refusals = ("missing", "bad-name", "twice", "too-large", "too-many")
    lines = ("too-long", "malformed")
    return (
        written
        | {f"log.artifact-{why}" for why in refusals}
        | {f"log.event-{why}" for why in lines}
        | {f"outcome.{outcome.value}" for outcome in Outcome}
    )


def test_each_code_has_a_sentence() -> None:
    assert len(codes()) > 20
    assert codes() - set(MESSAGES) == set()


@pytest.mark.parametrize("language", [code for code, _ in settings.LANGUAGES])
def test_each_language_has_them_all(language: str) -> None:
    assert set(MESSAGES) <= set(api.messages(language))


def test_a_word_that_two_courses_use_means_the_same_in_both() -> None:
    taken = {code for code, text in ANDREA_NAMES.items() if NAMES[code] != text}
    assert taken == set()
    dtypes = {"float32", "float16", "bfloat16"}
    assert not dtypes & {code.removeprefix("name.") for code in NAMES}
