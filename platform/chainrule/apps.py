from django.apps import AppConfig


class ChainruleConfig(AppConfig):
    name = "chainrule"
