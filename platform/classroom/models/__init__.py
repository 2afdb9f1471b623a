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
from classroom.models.rechecks import Recheck, RecheckItem, RecheckKind, RecheckState
from classroom.models.records import Adjustment, AuditEntry, PastWork, Unchangeable

__all__ = [
    "Adjustment", "AuditEntry", "Cohort", "Deadline", "Extension", "Grade", "GradePoint",
    "GroupDecision", "Invitation", "Membership", "PassageComment", "PastWork", "Recheck",
    "RecheckItem", "RecheckKind", "RecheckState", "Release", "Role", "RubricPoint", "SecondLook",
    "Share", "Unchangeable",
]  # fmt: skip
