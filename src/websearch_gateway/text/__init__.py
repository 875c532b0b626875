"""Pure functions over text: no network, no clock, no state."""
