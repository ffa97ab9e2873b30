#!/usr/bin/env python3
"""Misuse of the tile library must not compile, and must say why in one sentence.

  compile_fail_test.py MARGAY INCLUDE_DIR FILE

FILE holds the cases as `#ifdef CASE` sections, each with its sentence after `// expect: `. It is
compiled once without a case, which must succeed, and once with all of them: every section must then
have an error with its sentence that was caused from within the section.
"""

import re
import subprocess
import sys


def sections(path):
    """Yields (case, first line, last line, sentence)."""
    case = None
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if match := re.match(r"#ifdef (\w+)", line):
                case, first, sentence = match.group(1), number, None
            elif match := re.search(r"// expect: (.*)", line):
                sentence = match.group(1).strip()
            elif line.startswith("#endif") and case:
                yield case, first, number, sentence
                case = None


def compile_file(margay, include, path, cases):
    command = [margay, "hipcc", "-std=c++20", "-fsyntax-only", "--cuda-device-only",
               "-ferror-limit=0", "-I" + include, *("-D" + case for case in cases), path]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def main():
    margay, include, path = sys.argv[1:]
    cases = list(sections(path))
    plain = compile_file(margay, include, path, [])
    if plain.returncode != 0:
        sys.exit("the file without a case does not compile:\n" + plain.stderr)

    misuse = compile_file(margay, include, path, [case for case, *_ in cases])
    errors = re.split(r"^(?=\S*:\d+:\d+: error: )", misuse.stderr, flags=re.M)
    here = re.compile(re.escape(path) + r":(\d+):")
    failures = []
    for case, first, last, sentence in cases:
        if sentence is None:
            failures.append(f"{case}: no sentence is expected")
        elif not any(sentence in error and
                     any(first <= int(line) <= last for line in here.findall(error))
                     for error in errors):
            failures.append(f"{case}: no error from lines {first} to {last} says: {sentence}")
    if failures:
        print(misuse.stderr)
        print("\n".join(failures))
    print(f"{len(cases) - len(failures)} passed, {len(failures)} failed")
    sys.exit(1 if failures or not cases else 0)


main()
