"""Results as they cross the wire: one module per toolset. JSON names are camelCase unless the contract says otherwise.

Every field has a default and each result carries `error`, because clients validate structured content against the
schema even when a call failed. A new field changes tests/entrypoints/tools.json and docs/tools.md.
"""
