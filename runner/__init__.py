"""Runs: their rows, their event log, the worker, the child process and the websocket."""
