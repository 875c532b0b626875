"""Pure functions over text: no network, no clock, no state.

Keep them linear in their input, which strangers choose, and give each invariant a property test.
"""
