"""The entrypoints: MCP, HTTP, the command line, the Cloud Function. They parse, call the gateway and render.

No decisions here: a rule that two entrypoints need belongs in the pipeline. Tools are data in `tools/`.
"""
