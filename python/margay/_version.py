"""The version of Margay: of this package, the tool and the wheel. CMake and both pyproject.toml read it here."""

__version__ = "0.1.0"
