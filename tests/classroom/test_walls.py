"""Wall times in a zone: the hours that are skipped or come twice, and what is no date."""

from datetime import UTC, datetime

import pytest

from classroom.deadlines import (
    BadWall,
    BadZone,
    FarYear,
    SkippedHour,
    moment,
)


@pytest.mark.parametrize(
    ("wall", "zone", "at"),
    [
        ("2026-12-01T23:59", "Europe/Istanbul", datetime(2026, 12, 1, 20, 59, tzinfo=UTC)),
        ("2026-07-01T12:00", "Europe/Paris", datetime(2026, 7, 1, 10, 0, tzinfo=UTC)),
        ("2026-01-01T12:00", "Europe/Paris", datetime(2026, 1, 1, 11, 0, tzinfo=UTC)),
        ("2026-03-29T01:59", "Europe/Paris", datetime(2026, 3, 29, 0, 59, tzinfo=UTC)),
        ("2026-03-29T03:00", "Europe/Paris", datetime(2026, 3, 29, 1, 0, tzinfo=UTC)),
        ("2026-12-01T00:00", "Asia/Kathmandu", datetime(2026, 11, 30, 18, 15, tzinfo=UTC)),
        ("2026-12-01T00:00", "UTC", datetime(2026, 12, 1, tzinfo=UTC)),
    ],
)
def test_a_wall_time_is_an_instant(wall: str, zone: str, at: datetime) -> None:
    found = moment(wall, zone)
    assert (found.at, found.is_doubled) == (at, False)


@pytest.mark.parametrize(
    ("wall", "zone", "earlier", "later"),
    [
        ("2026-03-29T02:30", "Europe/Paris", "2026-03-29T01:59", "2026-03-29T03:00"),
        ("2026-03-29T02:00", "Europe/Paris", "2026-03-29T01:59", "2026-03-29T03:00"),
        ("2026-03-08T02:59", "America/New_York", "2026-03-08T01:59", "2026-03-08T03:00"),
        ("2026-10-04T02:15", "Australia/Lord_Howe", "2026-10-04T01:59", "2026-10-04T02:30"),
        ("2011-12-30T12:00", "Pacific/Apia", "2011-12-29T23:59", "2011-12-31T00:00"),
    ],
)
def test_a_skipped_time_offers_its_neighbours(
    wall: str, zone: str, earlier: str, later: str
) -> None:
    with pytest.raises(SkippedHour) as skipped:
        moment(wall, zone)
    assert (skipped.value.earlier, skipped.value.later) == (earlier, later)
    moment(earlier, zone), moment(later, zone)


def test_of_an_hour_that_comes_twice_the_first_is_taken() -> None:
    found = moment("2026-10-25T02:30", "Europe/Paris")
    assert found.is_doubled
    assert found.at == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    "wall",
    ["", "tomorrow", "2026-02-30T10:00", "2026-12-01", "9999-12-31", "20260-13"],
)
def test_no_date_is_no_deadline(wall: str) -> None:
    with pytest.raises(BadWall):
        moment(wall, "Europe/Paris")


@pytest.mark.parametrize(
    "wall",
    ["0001-01-01T00:00", "1970-12-31T23:59", "9999-12-31T23:59", "20260-12-01T10:00",
     "275760-09-13T00:00"],
)  # fmt: skip
@pytest.mark.parametrize("zone", ["Pacific/Apia", "America/Adak", "UTC"])
def test_a_year_too_far_away_is_not_called_no_date(wall: str, zone: str) -> None:
    with pytest.raises(FarYear):
        moment(wall, zone)


@pytest.mark.parametrize("wall", ["1971-01-01T00:00", "9998-12-31T23:59"])
@pytest.mark.parametrize("zone", ["Pacific/Apia", "America/Adak", "UTC"])
def test_within_the_years_every_zone_has_its_instants(wall: str, zone: str) -> None:
    assert moment(wall, zone).wall == wall


@pytest.mark.parametrize("zone", ["", "Paris", "EST5EDT", "../UTC", "Etc/GMT+3"])
def test_a_zone_is_a_place(zone: str) -> None:
    with pytest.raises(BadZone):
        moment("2026-12-01T10:00", zone)
