#!/usr/bin/env python3
"""Writes the reference of the tile library from its headers and a file of examples.

  tile_reference.py INCLUDE_DIR EXAMPLES            the page, on standard output
  tile_reference.py INCLUDE_DIR EXAMPLES --check FILE
                                                    fails if FILE is not that page, and says how to
                                                    renew it

A header's first comment becomes the introduction of its section. Every declaration outside
`namespace detail` becomes an entry: its signature, and the `///` comment before it. Declarations that
follow without a comment or an empty line belong to the entry before them. Macros are expanded, so that
every operation stands there with its own name and parameters. Public members of the types in MEMBERS
are shown with them.

EXAMPLES is compiled by a test. It has a block for each header, from a line `//: HEADER` to a line
`//: end`; the lines up to the first empty one are what the examples of the block need, the others are
statements. An operation's examples are the statements that call it; an operation without one is an
error.
"""

import argparse
import difflib
import pathlib
import re
import sys

# The order in which one learns the library.
SECTIONS = [
    ("Types", ["common/config.cuh", "common/base_types.cuh", "common/float8.cuh",
               "types/register/layouts.cuh", "types/register/rt.cuh", "types/register/rt_base.cuh",
               "types/register/rv.cuh",
               "types/shared/st.cuh", "types/shared/sv.cuh", "types/shared/swizzle.cuh",
               "types/global/gl.cuh", "types/global/coord.cuh", "types/global/bounded.cuh"]),
    ("Memory", ["ops/warp/memory/tile/global_to_shared.cuh",
                "ops/warp/memory/tile/direct_to_shared.cuh",
                "ops/warp/memory/tile/global_to_register.cuh",
                "ops/warp/memory/tile/shared_to_register.cuh",
                "ops/warp/memory/tile/register_buffer.cuh",
                "ops/warp/memory/vec/global_to_shared.cuh",
                "ops/warp/memory/vec/global_to_register.cuh",
                "ops/warp/memory/vec/shared_to_register.cuh",
                "common/allocator.cuh", "common/buffer.cuh",
                "common/low_level.cuh"]),
    ("Matrix multiply-accumulate", ["ops/warp/mma/mma.cuh"]),
    ("Register tiles and vectors", ["ops/warp/register/tile/maps.cuh",
                                    "ops/warp/register/tile/apply.cuh",
                                    "ops/warp/register/tile/reductions.cuh",
                                    "ops/warp/register/tile/conversions.cuh",
                                    "ops/warp/register/tile/masks.cuh",
                                    "ops/warp/register/vec/maps.cuh",
                                    "ops/warp/register/vec/apply.cuh",
                                    "ops/warp/register/vec/masks.cuh",
                                    "ops/warp/register/vec/reductions.cuh",
                                    "common/base_ops.cuh", "common/shuffle.cuh"]),
    ("Shared tiles and vectors", ["ops/warp/shared.cuh", "ops/group/shared/tile_maps.cuh",
                                  "ops/group/shared/apply.cuh",
                                  "ops/group/shared/tile_reductions.cuh",
                                  "ops/group/shared/vec.cuh"]),
    ("Groups of warps", ["ops/group/group.cuh", "ops/group/memory/tile.cuh",
                         "ops/group/memory/vec.cuh"]),
    ("Order of workgroups, debugging", ["common/chiplet.cuh", "ops/warp/memory/debug.cuh"]),
]
# Only parts of other headers.
INTERNAL = {"common/common.cuh", "common/memory.cuh", "ops/ops.cuh", "ops/warp/warp.cuh",
            "ops/warp/memory/chunk_map.cuh", "ops/warp/memory/global_tile.cuh",
            "ops/warp/memory/runs.cuh", "ops/warp/memory/vec/vector_map.cuh",
            "ops/group/shared/access.cuh", "common/op_names.cuh", "types/types.cuh"}
# Types whose members are for users.
MEMBERS = {"rt", "rt_base", "rv", "st", "st_subtile", "sv", "gl", "coord", "group", "convertor",
           "packing", "constants", "shared_allocator", "float8"}
# Types whose members are the operations of a group, entries of their own.
OPERATIONS = "group_ops"

ATTRIBUTES = re.compile(r"\b(KITTENS_(DEVICE|MEMBER|HD|DEFAULT_ALIGN)|KITTENS_ALIGN_AS\(\d+\)|"
                        r"inline|__device__|__host__|__forceinline__|static(?= (void|auto)))\s*")


def logical_lines(text):
    return re.sub(r"\s*\\\n\s*", " ", text).split("\n")


def split_arguments(text):
    parts, depth, start = [], 0, 0
    for i, char in enumerate(text):
        depth += {"(": 1, "<": 1, ")": -1, ">": -1}.get(char, 0)
        if char == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [*parts, text[start:].strip()]


def closing(text, start, pair="()"):
    """The index behind the bracket that closes the one at `start`."""
    depth = 0
    for i in range(start, len(text)):
        depth += {pair[0]: 1, pair[1]: -1}.get(text[i], 0)
        if depth == 0:
            return i + 1
    sys.exit(f"no {pair[1]} for: {text[start:start + 60]}")


class Macros:
    """The preprocessor, as far as the headers need it: macros whose names start with KITTENS_."""

    def __init__(self, text=""):
        self.table = {}
        for line in logical_lines(text):
            self.directive(line)

    def directive(self, line):
        if ATTRIBUTES.search(line) and "(name" not in line and not re.search(r"\bvoid\b|template", line):
            return  # one of the attributes themselves, which clean() takes off
        if match := re.match(r"\s*#\s*define (KITTENS_\w+)(\(([^)]*)\))?\s*(.*)", line):
            parameters = [p.strip() for p in match[3].split(",")] if match[2] else None
            self.table[match[1]] = (parameters, match[4])
        elif match := re.match(r"\s*#\s*undef (KITTENS_\w+)", line):
            self.table.pop(match[1], None)

    def expand(self, line):
        at = 0
        while match := re.compile(r"\bKITTENS_\w+").search(line, at):
            at = match.end()
            if match[0] not in self.table:
                continue
            parameters, body = self.table[match[0]]
            end = match.end()
            if parameters is not None:
                if line[end:end + 1] != "(":
                    continue
                end = closing(line, end)
                given = split_arguments(line[match.end() + 1:end - 1])
                body = self.substitute(body, parameters, given)
            line = line[:match.start()] + body + line[end:]
            at = match.start()
        return line

    @staticmethod
    def substitute(body, parameters, given):
        values = dict(zip(parameters, given))
        named = len([p for p in parameters if p != "..."])
        values["__VA_ARGS__"] = ", ".join(given[named:])
        body = re.sub(r"\b\w+\b", lambda word: values.get(word[0], word[0]), body)
        return re.sub(r"\s*##\s*", "", body)


def preprocessed(text, names):
    macros = Macros(names)
    out = []
    for line in logical_lines(text):
        if line.lstrip().startswith("#"):
            macros.directive(line)
        elif line.lstrip().startswith("//"):
            out.append(line)
        else:
            out.append(macros.expand(re.sub(r"//.*", "", line)))
    return "\n".join(out)


class Entry:
    """A declaration with the comment before it, and those that follow without one."""

    def __init__(self, comment, signature):
        self.comment, self.signatures, self.members = comment, [signature], []

    def names(self):
        """Of the functions among them."""
        found = [name_of(signature) for signature in self.signatures]
        return list(dict.fromkeys(name for name in found if name))


def without_template(signature):
    while match := re.match(r"template\s*(?=<)", signature):
        signature = signature[closing(signature, match.end(), "<>"):].strip()
    return signature


def name_of(signature):
    text = without_template(signature)
    if re.match(r"(struct|class|enum|using|constexpr \w+ \w+ =|typedef)\b", text):
        return None
    match = re.match(r"[^=(]*?(\w+)\s*\(", text)
    return match[1] if match else None


def clean(text):
    text = re.sub(r"\s+", " ", ATTRIBUTES.sub("", text)).strip()
    text = re.sub(r"KITTENS_LDS |\s*__asm\(.*\)$", "", text)
    text = re.sub(r"\) (const )?(requires ?\(.*\) )?: .*$", lambda m: ")" + (" " + m[1].strip() if m[1] else "") +
                  (" " + m[2].strip() if m[2] else ""), text)
    text = re.sub(r"^((template ?<.*> )?struct \w+) ?:(?!:).*$", r"\1", text)
    return text.replace("kittens::", "").replace("( ", "(")


HIDDEN = re.compile(r"static_assert|friend\b|using namespace|template ?<>|~|extern \"C\"|"
                    r"using (identifier|strides_t|map|access)\b|struct identifier|.*\bconcept\b|.*= delete|"
                    r"using \w+ops::|using (tile|vec)_(memory|maps)")


class Parser:
    """Declarations of one header, in order."""

    def __init__(self, text):
        self.text, self.at = text, 0
        self.entries = []
        self.comment, self.blank = [], True
        self.scopes = []  # (kind, name): namespace, hidden, struct (members shown), operations, skipped
        self.public = []

    def visible(self):
        return all(kind in ("namespace", "struct", "operations") for kind, _ in self.scopes) and all(self.public)

    def emit(self, declaration, body=False):
        signature = clean(declaration)
        comment, self.comment = self.comment, []
        blank, self.blank = self.blank, False
        declared = not body and re.match(r"(struct|class) \w+$", without_template(signature))
        if not signature or not self.visible() or HIDDEN.match(signature) or declared or "->" in signature:
            return None
        if self.scopes and self.scopes[-1][0] == "struct":
            self.owner.members += [f"  // {line}".rstrip() for line in comment] + [f"  {signature};"]
            return None
        if not comment and not blank and self.entries:
            self.entries[-1].signatures.append(signature)
        else:
            self.entries.append(Entry(comment, signature))
        return self.entries[-1]

    def skip_line(self):
        end = self.text.find("\n", self.at)
        line = self.text[self.at:end if end >= 0 else len(self.text)]
        self.at = end if end >= 0 else len(self.text)
        return line.strip()

    def open(self, head):
        """A `{` behind `head`. Returns what stays of the declaration."""
        plain = clean(head)
        body = closing(self.text, self.at, "{}")
        if match := re.match(r"(?:namespace )(\S+)?", plain):
            name = match[1] or ""
            hidden = name.split("::")[-1] == "detail"
            self.push("hidden" if hidden else "namespace", name)
        elif re.search(r"=[^=]|=$|\bconcept\b", re.sub(r"\([^)]*\)|operator\S+", "", without_template(plain))):
            text = head + self.text[self.at:body]
            self.at = body
            return text
        elif re.match(r"enum\b", plain):
            self.emit(head + self.text[self.at:body])
            self.at = body
        elif match := re.match(r"(struct|class) (?:\w+\(.*?\) )?(\w+)(.*)", without_template(plain)):
            if "identifier" in match[2]:
                self.at = body
                return ""
            within = [name for kind, name in self.scopes if kind == "namespace"]
            if OPERATIONS in within:
                self.comment, self.blank = [], True
                self.push("operations", match[2])
            else:
                entry = self.emit(head, body=True)
                shown = entry is not None and match[2] in MEMBERS
                if shown:
                    self.owner = entry
                self.push("struct" if shown else "skipped", match[2])
        else:
            if "(" in plain:
                self.emit(head)
            self.at = body
        return ""

    def push(self, kind, name):
        self.scopes.append((kind, name))
        self.public.append(True)
        self.at += 1

    def parse(self):
        declaration, depth, newlines = "", 0, 0
        while self.at < len(self.text):
            char = self.text[self.at]
            empty = not declaration.strip()
            if char == "\n":
                newlines += 1
                if empty and newlines > 1:
                    self.blank, self.comment = True, []
                declaration += " "
            elif self.text.startswith("///", self.at):
                self.comment.append(self.skip_line()[4:])
                newlines = 0
                continue
            elif self.text.startswith("//", self.at):
                self.skip_line()
                newlines = 0
                continue
            elif char == '"':
                end = self.text.index('"', self.at + 1) + 1
                declaration += self.text[self.at:end]
                self.at, newlines = end, 0
                continue
            elif char == "{" and depth == 0:
                declaration, newlines = self.open(declaration), 0
                continue
            elif char == "}" and depth == 0:
                if self.scopes:
                    self.scopes.pop()
                    self.public.pop()
                declaration, newlines = "", 0
            elif char == ";" and depth == 0:
                self.emit(declaration)
                declaration, newlines = "", 0
            elif char == ":" and declaration.strip() in ("public", "private", "protected"):
                self.public[-1] = declaration.strip() == "public"
                declaration, newlines, self.comment = "", 0, []
            else:
                if not char.isspace():
                    newlines = 0
                depth += {"(": 1, ")": -1}.get(char, 0)
                declaration += char
            self.at += 1
        return self.entries


def introduction(lines):
    text = []
    for line in lines:
        if not line.startswith("//"):
            break
        text.append(line[3:].rstrip() if len(line) > 2 else "")
    return text


def statements_of(lines):
    """Statements, each with its lines; one ends where its brackets are closed and it ends in ; or }."""
    out, current, depth = [], [], 0
    for line in lines:
        if not line.strip():
            continue
        current.append(line)
        code = line.split("//")[0].rstrip()
        depth += sum({"(": 1, "{": 1, ")": -1, "}": -1}.get(c, 0) for c in code)
        if depth == 0 and code.endswith((";", "}")):
            out.append(current)
            current = []
    return out


def unindented(lines):
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return [line[indent:] for line in lines]


def examples_of(path):
    """By header: what its examples need, and the statements."""
    blocks, header = {}, None
    for line in path.read_text(encoding="utf-8").splitlines():
        if match := re.match(r"\s*//: (\S+)", line):
            header = None if match[1] == "end" else match[1]
            if header in blocks:
                sys.exit(f"{path}: two blocks for {header}")
            if header:
                blocks[header] = []
        elif header:
            blocks[header].append(line)
    out = {}
    for header, lines in blocks.items():
        lines = unindented(lines)
        split = lines.index("") if "" in lines else 0
        out[header] = (lines[:split], statements_of(lines[split:]))
    return out


def calls(name, statement):
    """Whether a statement calls the operation, or uses the struct of base_ops with that name."""
    return re.search(rf"\b{name}(<[^;()]*>)?\s*\(|base_ops::{name}\b", "\n".join(statement)) is not None


def entry_lines(header, entry, examples, seen, missing):
    out = ["", "```cpp"]
    for signature in entry.signatures:
        out.append(f"{signature} {{" if entry.members else signature)
        out += [*entry.members, "};"] if entry.members else []
    out.append("```")
    if entry.comment:
        out += ["", *entry.comment]
    shown = []
    for name in entry.names():
        # Overloads in entries of their own have examples in the same order.
        found = [s for s in examples if calls(name, s)][seen.get(name, 0):]
        seen[name] = seen.get(name, 0) + 1
        if not found and header.startswith("ops/"):
            missing.append(f"{header}: {name}, {seen[name]} times")
        shown += [s for s in found[:1] if s not in shown]
    if shown:
        out += ["", "Example:", "", "```cpp", *(line for s in shown for line in s), "```"]
    return out


def anchor(header):
    return re.sub(r"[^\w-]", "", header.lower())


def index(parsed):
    """Every operation, with the sections that have it."""
    places = {}
    for header, entries in parsed.items():
        for entry in entries:
            for name in entry.names():
                if header.startswith("ops/") and not name.startswith("operator"):
                    places.setdefault(name, {})[header] = True
    out = ["", "## Operations by name", ""]
    for name in sorted(places):
        links = ", ".join(f"[{h[4:-4].replace('memory/', '').replace('register/', 'register ')}](#{anchor(h)})"
                          for h in places[name])
        out.append(f"- `{name}`: {links}")
    return out


def page(include, examples_file):
    root = pathlib.Path(include) / "kittens"
    known = {name for _, names in SECTIONS for name in names} | INTERNAL
    strangers = {str(p.relative_to(root)) for p in root.rglob("*.cuh")} ^ known
    if strangers:
        sys.exit("tools/tile_reference.py does not place these headers: " + ", ".join(sorted(strangers)))
    names = (root / "common/op_names.cuh").read_text(encoding="utf-8")
    examples = examples_of(pathlib.Path(examples_file))
    texts = {h: (root / h).read_text(encoding="utf-8") for _, headers in SECTIONS for h in headers}
    parsed = {h: Parser(preprocessed(t, names)).parse() for h, t in texts.items()}
    out = ["# The tile library: reference", "",
           "Written by `tools/tile_reference.py` from `include/kittens` and `tests/tiles/reference_examples.hip`. "
           "[The tutorial](tutorial.md) is the place to start. To find an operation, search this page for its name "
           "and a parenthesis, such as `exp(`, or use [the list](#operations-by-name).", "",
           "Rules that hold everywhere:", ""]
    rules = (root.parent / "kittens.cuh").read_text(encoding="utf-8").splitlines()
    for line in introduction(rules):
        if line.startswith(" - "):
            out.append("- " + line[3:])
        elif line.startswith("   ") and out[-1].startswith("- "):
            out[-1] += " " + line.strip()
    out += index(parsed)
    missing = []
    for title, headers in SECTIONS:
        out += ["", f"## {title}"]
        for header in headers:
            needs, statements = examples.pop(header, ([], []))
            seen = {}
            out += ["", f"### `{header}`", "", "```text", *introduction(texts[header].splitlines()), "```"]
            if needs:
                out += ["", "For the examples of this section:", "", "```cpp", *needs, "```"]
            for entry in parsed[header]:
                out += entry_lines(header, entry, statements, seen, missing)
    if missing or examples:
        sys.exit(f"{examples_file}: " + "\n".join(
            [*(f"no example of {name}" for name in missing), *(f"{h} is not a header of the page" for h in examples)]))
    return "\n".join(line.rstrip() for line in out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("include")
    parser.add_argument("examples")
    parser.add_argument("--check", metavar="FILE")
    arguments = parser.parse_args()
    text = page(arguments.include, arguments.examples)
    if arguments.check is None:
        sys.stdout.write(text)
        return
    old = pathlib.Path(arguments.check).read_text(encoding="utf-8")
    if old != text:
        sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), text.splitlines(True),
                                                   arguments.check, "the headers", n=1))
        sys.exit(f"{arguments.check} is not what the headers say; renew it:\n"
                 f"  tools/tile_reference.py include tests/tiles/reference_examples.hip > {arguments.check}")


if __name__ == "__main__":
    main()
