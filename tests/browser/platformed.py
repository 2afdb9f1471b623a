"""`python -m tests.browser.platformed SUB`: whoever the learning platform calls so hands in a right
answer, as a page would."""

import os
import sys

import django

sys.path.insert(0, "platform")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chainrule.settings")
django.setup()

from lti_tool.models import LtiUser  # noqa: E402

from tests.classroom.factories import submit  # noqa: E402

if __name__ == "__main__":
    submit(LtiUser.objects.get(sub=sys.argv[1]).auth_user, "what-drift")
