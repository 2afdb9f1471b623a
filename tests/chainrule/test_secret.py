"""The secret that is made once and kept in the data folder."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from chainrule import environment


def test_all_who_start_at_once_read_the_same_secret(tmp_path: Path) -> None:
    for turn in range(20):
        file = tmp_path / f"{turn}" / "secret"
        with ThreadPoolExecutor(8) as pool:
            made = set(pool.map(lambda _, file=file: environment.secret("NOT_SET", file), range(8)))
        assert len(made) == 1
        assert len(made.pop()) >= 48
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_one_left_empty_by_a_crash_is_made_again(tmp_path: Path) -> None:
    (tmp_path / "secret").touch()
    assert environment.secret("NOT_SET", tmp_path / "secret")
