#!/bin/bash
# A skipped test is named, and is none that passed: summary_test.sh SUMMARY CTEST
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }

cat >"$work/CTestTestfile.cmake" <<'END'
add_test(good "true")
add_test(bad "false")
add_test(another.one "sh" "-c" "exit 77")
set_tests_properties(another.one PROPERTIES SKIP_RETURN_CODE 77)
add_test(lesser.host "echo" "this host cannot run it")
set_tests_properties(lesser.host PROPERTIES SKIP_REGULAR_EXPRESSION "this host cannot")
END
"$2" --test-dir "$work" --output-log "$work/log" >/dev/null 2>&1 && fail "a failed test is not seen"
wanted=$'2 skipped, for want of what this machine or this tree does not have:\n  another.one\n  lesser.host\n1 passed, 1 failed'
[ "$("$1" "$work/log")" = "$wanted" ] || fail "it says: $("$1" "$work/log")"
"$2" --test-dir "$work" -R good --output-log "$work/log" >/dev/null 2>&1
[ "$("$1" "$work/log")" = "1 passed, 0 failed" ] || fail "it says: $("$1" "$work/log")"
