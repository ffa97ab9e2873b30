#!/usr/bin/env python3
"""Runs the tutorial as its reader does.

  tutorial_test.py MARGAY_BINARY PAGE

Files named by `<!-- file: NAME -->` are written to an empty folder, every ```sh block is run there
with margay in PATH, and what it prints must be the ```text block behind it, to the letter.
"""

import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def parts(page):
    """Yields (kind, text, line): files as ("file NAME", ...), then sh and text blocks in order."""
    for match in FENCE.finditer(page):
        kind, line = match.group(1), page.count("\n", 0, match.start()) + 1
        named = re.search(r"<!-- file: (\S+) -->\n\Z", page[: match.start()])
        yield (f"file {named.group(1)}" if named else kind), match.group(2), line


def main():
    margay, page = sys.argv[1:]
    environment = dict(os.environ)
    environment["PATH"] = os.path.dirname(os.path.abspath(margay)) + ":" + environment["PATH"]
    ran, printed, failures = 0, None, 0
    with tempfile.TemporaryDirectory() as folder:
        for kind, text, line in parts(pathlib.Path(page).read_text(encoding="utf-8")):
            if kind.startswith("file "):
                (pathlib.Path(folder) / kind.split()[1]).write_text(text, encoding="utf-8")
            elif kind == "sh":
                if printed is not None:
                    sys.exit(f"line {line}: the commands before this have no output behind them")
                done = subprocess.run(["bash", "-o", "pipefail", "-c", text], cwd=folder,
                                      env=environment, capture_output=True, text=True, check=False)
                ran, printed = ran + 1, done.stdout
                if done.returncode != 0:
                    failures += 1
                    print(f"line {line}: exit code {done.returncode}\n{text}{done.stderr}")
            elif kind == "text" and printed is not None:
                if printed != text:
                    failures += 1
                    print(f"line {line}: the page says, and the program prints:")
                    sys.stdout.writelines(difflib.ndiff(text.splitlines(True),
                                                        printed.splitlines(True)))
                printed = None
    if ran == 0 or printed is not None:
        sys.exit("no commands, or the last ones have no output behind them")
    print(f"{ran} groups of commands, {failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
