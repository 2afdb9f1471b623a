"""The rows of the classroom, one module an area."""

from classroom.models.cohorts import Cohort, Deadline, Extension, Membership, Release, Role
from classroom.models.grading import (
    Grade,
    GradePoint,
    GroupDecision,
    PassageComment,
    RubricPoint,
    SecondLook,
    Share,
)
from classroom.models.invitations import Invitation
from classroom.models.platforms import (
    Column,
    ContextLink,
    Kept,
    PlatformHost,
    Score,
    SendState,
)
from classroom.models.rechecks import Recheck, RecheckItem, RecheckKind, RecheckState
from classroom.models.records import (
    Adjustment,
    AuditEntry,
    Import,
    ImportedLine,
    PastWork,
    Unchangeable,
)

__all__ = [
    "Adjustment", "AuditEntry", "Cohort", "Column", "ContextLink", "Deadline", "Extension",
    "Grade", "GradePoint", "GroupDecision", "Import", "ImportedLine", "Invitation", "Kept",
    "Membership", "PassageComment", "PastWork", "PlatformHost", "Recheck", "RecheckItem",
    "RecheckKind", "RecheckState", "Release", "Role", "RubricPoint", "Score", "SecondLook",
    "SendState", "Share", "Unchangeable",
]  # fmt: skip
