"""`python -m websearch_gateway` is the `websearch-gateway` command."""

from websearch_gateway.entrypoints.cli import main

if __name__ == "__main__":
    main()
