"""The time that a test gives a healthy gateway: it runs on a busy machine too, where nothing is quick.

What a test expects to be late, it times itself.
"""

from __future__ import annotations

PATIENT = {"SEARCH_DEADLINE_SECONDS": "30", "REQUEST_TIMEOUT_MS": "30000"}
"""Settings by their environment names. Longer than `Sandbox.wait_for` waits: no deadline does what it watches for."""

PATIENT_PROCESS = {"SEARCH_DEADLINE_SECONDS": "90", "REQUEST_TIMEOUT_MS": "90000"}
"""The same for a process that first has to import everything."""
