"""Re-checks and the audit."""

from django.urls import path

from classroom.views import audit, rechecks

urlpatterns = [
    path("<uuid:cohort_id>/rechecks/", rechecks.rechecks, name="rechecks"),
    path("<uuid:cohort_id>/rechecks/<uuid:job_id>/", rechecks.recheck, name="recheck"),
    path("<uuid:cohort_id>/audit/", audit.audit, name="audit"),
    path("<uuid:cohort_id>/audit/export/", audit.audit_export, name="audit-export"),
]
