#!/usr/bin/env python3
"""Writes the reference of the tile library from the comments of its headers.

  tile_reference.py INCLUDE_DIR            the page, on standard output
  tile_reference.py INCLUDE_DIR --check FILE
                                           fails if FILE is not that page, and says how to renew it

A header's first comment becomes the introduction of its section. Every declaration outside
`namespace detail` becomes an entry: its signature, and the `///` comment before it. Declarations that
follow without a comment or an empty line belong to the entry before them. Families made by a macro
are listed by the names it is used with.
"""

import argparse
import difflib
import pathlib
import re
import sys

# The order in which one learns the library.
SECTIONS = [
    ("Types", ["common/config.cuh", "common/base_types.cuh", "common/float8.cuh",
               "types/register/layouts.cuh", "types/register/rt.cuh", "types/register/rv.cuh",
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
                                    "ops/warp/register/tile/reductions.cuh",
                                    "ops/warp/register/tile/conversions.cuh",
                                    "ops/warp/register/tile/masks.cuh",
                                    "ops/warp/register/vec/maps.cuh",
                                    "ops/warp/register/vec/masks.cuh",
                                    "ops/warp/register/vec/reductions.cuh",
                                    "common/base_ops.cuh", "common/shuffle.cuh"]),
    ("Shared tiles and vectors", ["ops/warp/shared.cuh", "ops/group/shared/tile_maps.cuh",
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
            "ops/group/shared/access.cuh", "common/op_names.cuh", "types/types.cuh", "types/register/rt_base.cuh"}

ATTRIBUTES = re.compile(r"\b(KITTENS_(DEVICE|MEMBER|HD|DEFAULT_ALIGN)|KITTENS_ALIGN_AS\(\d+\)|"
                        r"inline|__device__|__host__)\s*")


def name_lists(root):
    """The lists of common/op_names.cuh: {"KITTENS_UNARY_NAMES": ["exp", ...], ...}."""
    text = (root / "common/op_names.cuh").read_text(encoding="utf-8").replace("\\\n", " ")
    return {name: re.findall(r"X\((\w+)", body)
            for name, body in re.findall(r"#define (\w+_NAMES)\(X\)(.*)", text)}


class Entry:
    """A declaration with the comment before it, and those that follow without one."""

    def __init__(self, comment, signature, member):
        self.comment, self.signatures, self.member = comment, [signature], member
        self.names = []


def introduction(lines):
    text = []
    for line in lines:
        if not line.startswith("//"):
            break
        text.append(line[3:].rstrip() if len(line) > 2 else "")
    return text


def signature_of(lines, start):
    """The declaration that starts at a line, up to its body or its end, on one line."""
    text, depth = "", 0
    for line in lines[start:start + 12]:
        for char in line.rstrip("\\ \n"):
            if char in "{;" and depth == 0:
                return clean(text)
            depth += {"(": 1, ")": -1}.get(char, 0)
            text += char
        text += " "
    return clean(text)


def clean(text):
    text = ATTRIBUTES.sub("", text)
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r"\s*:\s*(private|public|group_ops|detail::gl_dim|packing|raw_ptr).*$", "", text)
    return text.replace("kittens::", "")


def entries_of(lines, lists):
    result, comment, hidden, private = [], [], None, False
    macros, macro, position = {}, None, {}
    after_blank = True
    i = 0
    while i < len(lines):
        line = lines[i].rstrip("\n")
        stripped = line.strip()
        indent = len(line) - len(line.lstrip())
        if hidden is None and re.match(r"\s*namespace (\w+::)*(detail|identifier)\b", line):
            hidden = indent
        if hidden is not None:
            if re.match(r"}\s*// namespace .*detail", stripped) and indent == hidden:
                hidden = None
            i += 1
            comment = []
            continue
        if stripped == "private:":
            private = True
        if line.startswith("};"):
            private = False
        if stripped.startswith("///"):
            comment.append(stripped[4:])
        elif match := re.match(r"\s*#define (KITTENS_\w+)\((.*?)\)", line):
            macro = match.group(1)
            macros[macro] = None
            parameters = [p.strip() for p in match.group(2).split(",")]
            position[macro] = parameters.index("name") if "name" in parameters else 0
            body = []
            while lines[i].rstrip().endswith("\\"):
                i += 1
                body.append(re.sub(r"\\\s*$", "", lines[i].rstrip("\n")))
            for text in body:
                other = re.search(r"(KITTENS_\w+)\(.*name", text)
                if other and macros.get(other.group(1)):
                    macros[macro], position[macro] = macros[other.group(1)], 0
            for k, text in enumerate(body):
                if re.search(r"\bvoid \S*name|struct name", text):
                    start = k - 1 if k and body[k - 1].strip().startswith("template") else k
                    entry = Entry(comment, signature_of(body, start), indent > 0)
                    if macros[macro] is None:
                        macros[macro] = [entry]
                        result.append(entry)
                    else:
                        macros[macro][0].signatures.append(entry.signatures[0])
            comment = []
        elif (match := re.match(r"\s*(KITTENS_\w+)\(([\w, ]+)\)", line)) and \
                {match.group(1), match.group(2)} & set(macros):
            # MACRO(name, ...), or LIST(MACRO) for every name of the list.
            used, given = match.groups()
            macro = given if used in lists else used
            if macros[macro]:
                new = lists[used] if used in lists else [given.split(",")[position[macro]].strip()]
                names = macros[macro][0].names
                names += [name for name in new if name not in names]
        elif not private and re.match(
                r"(template|struct|enum|constexpr|using|KITTENS_(DEVICE|HD)|typedef|inline)\b",
                stripped) and indent in (0, 2) and (
                    indent == 0 or comment or (result and result[-1].member and
                                               stripped.startswith(("template", "KITTENS")))):
            if not re.match(r"(template\s*<>|using (identifier|T|T2|dtype|layout)\b)", stripped):
                signature = signature_of(lines, i)
                if re.search(r"\b(concept|friend)\b", signature) or "identifier {" in stripped or \
                        signature.startswith("struct identifier"):
                    pass
                elif not comment and not after_blank and result and \
                        result[-1].member == (indent > 0) and not result[-1].names:
                    result[-1].signatures.append(signature)
                else:
                    result.append(Entry(comment, signature, indent > 0))
            comment = []
            # The parameters of a template may go on over lines.
            while "{" not in lines[i] and ";" not in lines[i] and i + 1 < len(lines):
                i += 1
        elif stripped and not stripped.startswith("//"):
            comment = []
        if not stripped.startswith("///"):
            after_blank = not stripped
        i += 1
    return result


def page(root):
    root = pathlib.Path(root) / "kittens"
    known = {name for _, names in SECTIONS for name in names} | INTERNAL
    missing = {str(p.relative_to(root)) for p in root.rglob("*.cuh")} ^ known
    if missing:
        sys.exit("tools/tile_reference.py does not place these headers: " +
                 ", ".join(sorted(missing)))
    lists = name_lists(root)
    out = ["# The tile library: reference", "",
           "Written by `tools/tile_reference.py` from the comments of `include/kittens`. "
           "[The tutorial](tutorial.md) is the place to start.", "",
           "Rules that hold everywhere:", ""]
    rules = (root.parent / "kittens.cuh").read_text(encoding="utf-8").splitlines()
    for line in introduction(rules):
        if line.startswith(" - "):
            out.append("- " + line[3:])
        elif line.startswith("   ") and out[-1].startswith("- "):
            out[-1] += " " + line.strip()
    for title, names in SECTIONS:
        out += ["", f"## {title}"]
        for name in names:
            lines = (root / name).read_text(encoding="utf-8").splitlines()
            out += ["", f"### `{name}`", "", "```text", *introduction(lines), "```"]
            for entry in entries_of(lines, lists):
                if not entry.comment and not entry.names and entry.member:
                    continue
                out += ["", "```cpp", *entry.signatures, "```"]
                if entry.names:
                    out += ["", "`name`: " + ", ".join(f"`{n}`" for n in entry.names)]
                if entry.comment:
                    out += ["", *entry.comment]
    return "\n".join(line.rstrip() for line in out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("include")
    parser.add_argument("--check", metavar="FILE")
    arguments = parser.parse_args()
    text = page(arguments.include)
    if arguments.check is None:
        sys.stdout.write(text)
        return
    old = pathlib.Path(arguments.check).read_text(encoding="utf-8")
    if old != text:
        sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), text.splitlines(True),
                                                   arguments.check, "the headers", n=1))
        sys.exit(f"{arguments.check} is not what the headers say; renew it:\n"
                 f"  tools/tile_reference.py include > {arguments.check}")


if __name__ == "__main__":
    main()
