"""The package. Importing it does no work; `app.build` makes a Gateway, the doors serve one."""

__all__ = ["__version__"]

__version__ = "0.1.0"
