"""Marking texts for translation where there is no translation library."""


class Counted(str):
    """A template whose words depend on a number: as it stands for several, `one` for a single one
    of what the placeholder `by` counts."""

    one: str
    by: str


def gettext_noop(text: str) -> str:
    """The text itself; whoever collects the strings of the sources finds it by this name."""
    return text


def counted(by: str, one: str, many: str) -> Counted:
    """A template in both its forms, found by this name as well."""
    template = Counted(many)
    template.one, template.by = one, by
    return template
