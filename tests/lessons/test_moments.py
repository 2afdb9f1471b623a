"""A moment is written in one way, in every language, whether a script runs or not."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from django.template import Context, Template
from django.utils.translation import override

AT = datetime(2026, 12, 1, 23, 59, tzinfo=UTC)


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "December 1, 2026, 23:59 UTC"),
        ("fr", "1er décembre 2026, 23:59 UTC"),
        ("tr", "1 Aralık 2026, 23:59 UTC"),
    ],
)
@pytest.mark.parametrize("hours", [0, 3, -8])
def test_a_moment_is_written_in_utc_and_leaves_a_script_its_instant(
    language: str, said: str, hours: int
) -> None:
    at = AT.astimezone(timezone(timedelta(hours=hours)))
    with override(language):
        html = Template("{% load moments %}{{ at|when }}").render(Context({"at": at}))
    assert html == f'<time datetime="2026-12-01T23:59:00+00:00" data-when>{said}</time>'


@pytest.mark.parametrize(
    ("language", "first", "eleventh"),
    [
        ("en", "November 1, 2026", "November 11, 2026"),
        ("fr", "1er novembre 2026", "11 novembre 2026"),
        ("tr", "1 Kasım 2026", "11 Kasım 2026"),
    ],
)
def test_a_day_is_written_as_each_language_does(language: str, first: str, eleventh: str) -> None:
    for number, said in ((1, first), (11, eleventh)):
        at = datetime(2026, 11, number, 23, 59, tzinfo=UTC)
        with override(language):
            html = Template("{% load moments %}{{ at|day }}").render(Context({"at": at}))
        assert html == f'<time datetime="{at.isoformat()}" data-day>{said}</time>'


def test_no_moment_is_nothing() -> None:
    shown = Template("{% load moments %}{{ at|when }}{{ at|day }}").render(Context({"at": None}))
    assert shown == ""
