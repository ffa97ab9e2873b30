#!/bin/bash
# A page that is not up to date is found: stale_page_test.sh TIME_PAGE SOURCE_ROOT
set -euo pipefail

export PYTHONDONTWRITEBYTECODE=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/docs" "$work/tools"
cp -r "$2/docs/time.md" "$2/docs/time-validation" "$work/docs"
cp -r "$2/tools/time_page" "$2/tools/time_validation" "$work/tools"
page=$work/docs/time.md

fail() { echo "FAILED: $*" >&2; exit 1; }
run() { /usr/bin/python3 "$work/tools/time_page/page.py" "$@"; }
stale() { ! run "$1" 2>"$work/said" || fail "it did not see $2"; }

# As if all tables had been made with the parameters in force.
in_force=$(PYTHONPATH=$work/tools/time_validation /usr/bin/python3 -c \
  'import common, sys; print(common.id_of(sys.stdin.read()))' <<<"$("$1" parameters)")
sed -i "2,\$s/,.*/,$in_force/" "$work/docs/time-validation/runs.csv"
run "$1" --write
run "$1" || fail "it does not accept the page it has just written"
! grep -q 'earlier ones' "$page" || fail "it calls current figures old"
written=$(cat "$page")

sed -i 's/^| load that hits L2 | cycles | /&9/' "$page"
stale "$1" "another parameter"
grep -q 'docs/time.md:[0-9]*, which should be: | load that hits L2 | cycles | ' "$work/said" ||
  fail "it did not name the line: $(cat "$work/said")"
run "$1" --write
[ "$(cat "$page")" = "$written" ] || fail "it did not write the parameter back"

sed -i '2s/,/,9/3' "$work/docs/time-validation/i8gemm-mi300x.csv"
stale "$1" "another result"
run "$1" --write

# A run with other parameters than those in force is called what it is.
sed -i 's/^\(mi300a-kernels.csv,\).*/\1000000000000/' "$work/docs/time-validation/runs.csv"
stale "$1" "that a run is out of date"
run "$1" --write
grep -q '^| MI300A vectoradd .*earlier ones |$' "$page" || fail "it calls old figures current"

sed -i '/^<!-- points -->$/d' "$page"
stale "$1" "a missing mark"
grep -q 'needs one line <!-- points -->' "$work/said" || fail "it said: $(cat "$work/said")"
