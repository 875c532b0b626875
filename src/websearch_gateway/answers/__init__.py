"""Answer engines, one file each, in the order of `table`.

`http_engine` runs every engine that is an HTTP API. To add one: docs/adding-an-engine.md. The extractive composer,
which quotes without a model, is here too.

This file imports nothing: worker processes compose and check answers, and do without the settings.
"""
