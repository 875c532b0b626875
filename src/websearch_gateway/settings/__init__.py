"""The only reader of the environment. `make docs` lists all settings.

Names are those of environment variables; a TOML file uses the same names in lower case. Flags override the environment,
and the environment overrides the file. The file is `--config FILE`, else `$WEBSEARCH_GATEWAY_CONFIG`, else
`config.toml` in the user's configuration folder (platformdirs).

ENGINES and PROVIDERS are the ordered tables of vendors: settings, engines, providers, sandbox and documents derive from
them. The code of a row is the file with its name in `answers/` or `providers/`; docs/adding-an-engine.md and
docs/adding-a-provider.md say what belongs in it. All other settings are in `groups.py`.
"""
