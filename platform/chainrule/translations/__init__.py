"""Interface strings: collected from the sources, checked, compiled. No GNU gettext is needed."""
