"""The outside world on one loopback port, for demos and tests."""
