"""Deadlines for a healthy gateway in tests, long enough for a busy machine.

A test of a deadline sets its own.
"""

from __future__ import annotations

PATIENT = {"SEARCH_DEADLINE_SECONDS": "30", "REQUEST_TIMEOUT_MS": "30000"}
"""Settings by their environment names. Longer than `Sandbox.wait_for` waits, so that no deadline hides its event."""

PATIENT_PROCESS = {"SEARCH_DEADLINE_SECONDS": "90", "REQUEST_TIMEOUT_MS": "90000"}
"""The same for a process that first has to import everything."""
