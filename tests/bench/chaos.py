"""kill -9 of child, worker and web, and Valkey away for ten seconds: 20 times each, watched.

`CHAOS_TIMES` strikes less often.
"""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.bench._report import Row, set_up

set_up()

from tests.runner import chaos  # noqa: E402
from tests.runner.site import Site  # noqa: E402

TIMES = int(os.environ.get("CHAOS_TIMES", "20"))
NOTICED = "until noticed"
STRIKES: dict[str, tuple[Callable[[Site], float], str]] = {
    "kill -9 of the child": (chaos.strike_child, "to its end"),
    "kill -9 of the worker": (chaos.strike_worker, NOTICED),
    "kill -9 of the worker's slot": (chaos.strike_slot, NOTICED),
    "kill -9 of the web process": (chaos.strike_web, "until viewers are back"),
    "Valkey killed, away 10 s": (chaos.strike_valkey, "from its return to the end of what waited"),
    "Valkey frozen for 10 s": (chaos.freeze_valkey, "from its return to the end of the Run"),
}


def strike(site: Site, name: str) -> Row:
    """One line: how many of the strikes lost or doubled an Event, or left a Run stuck."""
    blow, what = STRIKES[name]
    seconds: list[float] = []
    failures: list[str] = []
    for _ in range(TIMES):
        try:
            seconds.append(blow(site))
            chaos.require_nothing_stuck()
            assert what != NOTICED or seconds[-1] < chaos.NOTICED_SECONDS, "noticed too late"
        except AssertionError as failure:
            failures.append(str(failure).partition("\n")[0][:80] or "an Event lost or doubled")
    longest = f"{max(seconds):.1f} s at most {what}" if seconds else ""
    note = "; ".join([longest, *failures[:3]])
    figure = f"{len(failures)} of {TIMES}"
    return Row(f"{name}: Events lost or twice, Runs stuck", figure, "0", not failures, note)


def measure() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="chainrule-bench-") as folder:
        site = Site(Path(folder))
        try:
            site.open()
            return [strike(site, name) for name in STRIKES]
        finally:
            site.close()


def main() -> None:
    for row in measure():
        print(row)


if __name__ == "__main__":
    main()
