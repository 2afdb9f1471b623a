"""Addresses below /<language>/account/."""

from django.urls import path

from accounts import reset_views, settings_views, views

app_name = "accounts"
urlpatterns = [
    path("", settings_views.settings, name="settings"),
    path("sign-up/", views.sign_up, name="sign-up"),
    path("sign-in/", views.sign_in, name="sign-in"),
    path("sign-out/", views.sign_out, name="sign-out"),
    path("password/", settings_views.password, name="password"),
    path("export/", settings_views.export, name="export"),
    path("erase/", settings_views.erase, name="erase"),
    path("reset/", reset_views.reset, name="reset"),
    path("reset/sent/", reset_views.reset_sent, name="reset-sent"),
    path("reset/<uidb64>/<token>/", reset_views.ResetConfirm.as_view(), name="reset-confirm"),
]
