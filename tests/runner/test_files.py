"""Which of a child's files are taken, and as what."""

import uuid
from pathlib import Path

import pytest
from django.core.files.storage import default_storage

from runner import limits
from runner.claims import Claim
from runner.files import Files, Refused


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(Claim(uuid.uuid4(), 1, "test.artifacts", {}, 1, "cpu", 0), tmp_path)


def announce(files: Files, name: str, content: bytes = b"x", media: str = "text/plain") -> None:
    path = files.outputs / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    files.take({"name": name, "media": media})


def refusal(files: Files, name: str, content: bytes | None = b"x") -> str:
    with pytest.raises(Refused) as refused:
        if content is None:
            files.take({"name": name})
        else:
            announce(files, name, content)
    return str(refused.value)


def test_what_is_kept_is_what_was_measured_under_a_tame_name(files: Files) -> None:
    name = "figures/weird ＜name＞ 'x'.svg"
    (files.outputs / "figures").mkdir()
    (files.outputs / name).write_bytes(b"<svg/>")
    said = {"name": name, "media": "image/svg+xml", "bytes": 1, "sha256": "a lie"}
    data, row = files.take(said)
    assert (data["name"], data["bytes"], data["media"]) == (name, 6, "image/svg+xml")
    assert data["sha256"] != "a lie"
    stored = row.file.name or ""
    assert stored.startswith(f"runs/{files.claim.run_id}/1-")
    assert set(stored) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-")
    assert default_storage.open(stored).read() == b"<svg/>"


def test_a_media_type_that_is_none_becomes_a_download(files: Files) -> None:
    announce(files, "a", media="text/html; charset=<script>")
    (files.outputs / "b").write_bytes(b"x")
    assert files.take({"name": "b", "media": 'x"y'})[1].media == "application/octet-stream"


@pytest.mark.parametrize(
    "name", ["", "/etc/passwd", "../up", "a/../../up", "folder", "nobody", "n" * 201, "a\nb"]
)
def test_a_name_that_leads_nowhere_good_is_refused(files: Files, name: str) -> None:
    (files.outputs / "folder").mkdir()
    assert refusal(files, name, None) in ("missing", "bad-name")


def test_a_link_is_refused_also_on_the_way(files: Files) -> None:
    (files.outputs / "link").symlink_to("/etc/passwd")
    (files.outputs / "folder").symlink_to("/etc")
    assert refusal(files, "link", None) == "missing"
    assert refusal(files, "folder/passwd", None) == "missing"


def test_number_and_size_are_limited(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_ARTIFACT_BYTES", 100)
    monkeypatch.setattr(limits, "MAX_ARTIFACTS", 3)
    announce(files, "a", b"x" * 60)
    assert refusal(files, "b", b"x" * 60) == "too-large"
    assert refusal(files, "a") == "twice"
    announce(files, "c", b"x" * 30)
    announce(files, "d", b"x")
    assert refusal(files, "e") == "too-many"


def test_the_name_of_the_log_is_ours(files: Files) -> None:
    assert refusal(files, "log.txt") == "twice"
