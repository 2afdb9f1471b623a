"""Comments in Markdown are safe to show, whatever was typed."""

import time

import pytest

from classroom.markdown import render


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("**well** done", "<p><strong>well</strong> done</p>"),
        ("<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"),
        ("<b onclick=x>x</b>", "<p>&lt;b onclick=x&gt;x&lt;/b&gt;</p>"),
        ("[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>"),
        ("[x](//evil.example)", "<p>[x](//evil.example)</p>"),
        ("![i](https://e.org/p.png)", None),
        ("# loud", "<p># loud</p>"),
        ("line\nline", "<p>line<br>\nline</p>"),
        (
            "[ok](https://e.org)",
            '<p><a href="https://e.org" rel="nofollow noopener">ok</a></p>',
        ),
    ],
)
def test_a_comment_shows_as_what_it_says_and_no_more(typed: str, shown: str | None) -> None:
    html = render(typed)
    assert "<img" not in html and "<script" not in html and "javascript:alert" not in links(html)
    if shown is not None:
        assert html.strip() == shown


def links(html: str) -> str:
    return "".join(part.split('"')[0] for part in html.split('href="')[1:])


@pytest.mark.parametrize("piece", ["[", "![[", "[a](", "1. ", "> ", "*a_b", "<a", "`", "- > "])
def test_a_comment_of_full_length_is_rendered_at_once(piece: str) -> None:
    began = time.perf_counter()
    assert render((piece * 10_000)[:10_000])
    assert time.perf_counter() - began < 2
