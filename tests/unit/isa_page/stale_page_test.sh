#!/bin/bash
# A page that is not up to date is found: stale_page_test.sh ISA_PAGE SOURCE_ROOT
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/docs"
ln -s "$2/src" "$work/src"
ln -s "$2/tools" "$work/tools"

fail() { echo "FAILED: $*" >&2; exit 1; }

"$1" "$work"
"$1" "$work" --check || fail "it does not accept the page it has just written"
# The backticks are Markdown's.
# shellcheck disable=SC2016
sed -i 's/^| `v_add_f32` |.*/| `v_add_f32` | VOP2 | missing |  |/' "$work/docs/isa-coverage.md"
! "$1" "$work" --check 2>"$work/said" || fail "it did not see a changed line"
# shellcheck disable=SC2016
grep -q 'docs/isa-coverage.md:[0-9]*, which should be: | `v_add_f32` | VOP2 VOP3 | exact' "$work/said" ||
  fail "it did not name the line: $(cat "$work/said")"
"$1" "$work"
echo 'one line more' >>"$work/docs/isa-coverage.md"
! "$1" "$work" --check 2>/dev/null || fail "it did not see a line too many"
rm "$work/docs/isa-coverage.md"
! "$1" "$work" --check 2>/dev/null || fail "it did not see that the page is missing"
