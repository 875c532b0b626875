"""Pure functions over text: no network, no clock, no state.

Keep them linear in their input, which outsiders choose, and write a property test for each invariant.
"""
