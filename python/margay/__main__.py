"""python3 -m margay build kernel.cpp: a Python module in this directory, for scripts that import it."""

import argparse
import sys

from margay import extension


def main():
    parser = argparse.ArgumentParser(prog="python3 -m margay", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    build = commands.add_parser("build", help="compile a file with a PYBIND11_MODULE")
    build.add_argument("source")
    build.add_argument("-o", "--output", default=".", metavar="DIR", help="default: this directory")
    build.add_argument("-D", dest="defines", action="append", default=[], metavar="NAME[=VALUE]")
    build.add_argument("-I", dest="include", action="append", default=[], metavar="DIR")
    build.add_argument("--flags", default="", help="further arguments of the compiler, in one word")
    build.add_argument("--name", help="the module, when the file defines several")
    build.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    try:
        print(
            extension.build(
                options.source,
                options.output,
                name=options.name,
                defines=options.defines,
                include=options.include,
                flags=options.flags,
                verbose=options.verbose,
            )
        )
    except (RuntimeError, ImportError, OSError) as error:
        print(f"margay: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
