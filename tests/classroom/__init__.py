"""Tests of platform/classroom."""
