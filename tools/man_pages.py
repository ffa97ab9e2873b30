#!/usr/bin/env python3
"""Writes the manual pages margay.1 and margay-COMMAND.1 from what the tool's --help prints.

usage: man_pages.py MARGAY VERSION FOLDER
"""

import pathlib
import re
import subprocess
import sys


def help_of(margay, *words):
    done = subprocess.run([margay, *words, "--help"], capture_output=True, text=True, check=True)
    return done.stdout.rstrip() + "\n"


def roff(text):
    """Text as it stands: backslashes and leading dots and quotes mean something to roff."""
    lines = [line.replace("\\", "\\e").replace("-", "\\-") for line in text.splitlines()]
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in lines)


def page(name, summary, version, text, others):
    see = ", ".join(f".BR {other} (1)" for other in others).replace(", .", " ,\n.")
    return (f'.TH {name.upper()} 1 "" "margay {version}" "Margay"\n'
            f".SH NAME\n{name} \\- {roff(summary)}\n"
            f".SH DESCRIPTION\n.nf\n{roff(text)}\n.fi\n"
            f".SH SEE ALSO\n{see}\n")


def main():
    margay, version, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    top = help_of(margay)
    listed = top.split("\ncommands\n")[1].split("\n\n")[0]
    commands = re.findall(r"^  ([a-z]+) +(.+)$", listed, re.MULTILINE)
    if not commands:
        sys.exit("man_pages.py: margay --help lists no commands")
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"margay-{command}" for command, _ in commands]
    (folder / "margay.1").write_text(
        page("margay", top.splitlines()[0].split(": ", 1)[1], version, top, names))
    for command, summary in commands:
        others = ["margay"] + [name for name in names if name != f"margay-{command}"]
        (folder / f"margay-{command}.1").write_text(
            page(f"margay-{command}", summary, version, help_of(margay, command), others))


if __name__ == "__main__":
    main()
