"""Learning platforms, against one that is simulated whole: `platform.py`."""
