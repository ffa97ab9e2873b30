"""has_module.py NAME: exits with 77 when there is no such module, so that ctest names it as skipped."""

import importlib.util
import sys

if importlib.util.find_spec(sys.argv[1]) is None:
    print(f"{sys.argv[1]} is not installed: the tests that need it are skipped")
    sys.exit(77)
