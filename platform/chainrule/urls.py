"""The site's addresses. A page's address begins with its language."""

from django.conf.urls.i18n import i18n_patterns
from django.urls import include, path
from django.views.generic import RedirectView

from chainrule import views

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="lessons:catalogue"), name="root"),
    path("healthz", views.health, name="health"),
    path("language/", views.choose_language, name="language"),
    path("lti/", include("classroom.urls.lti")),  # what a learning platform has registered
    *i18n_patterns(
        path("account/", include("accounts.urls")),
        path("classroom/", include("classroom.urls")),
        path("runs/", include("runner.urls")),
        path("", include("lessons.urls")),
    ),
]
handler400 = "chainrule.views.bad_request"
handler403 = "chainrule.views.forbidden"
handler404 = "chainrule.views.not_found"
handler500 = "chainrule.views.server_error"
