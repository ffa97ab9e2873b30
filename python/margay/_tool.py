"""The command `margay` of the wheel: becomes the tool that lies in the package."""

import os
import sys

from margay.installation import IN_PACKAGE


def main():
    tool = IN_PACKAGE / "bin" / "margay"
    try:
        os.execv(tool, ["margay", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"margay: {tool} cannot be started: {error.strerror}; pip install --force-reinstall margay")
