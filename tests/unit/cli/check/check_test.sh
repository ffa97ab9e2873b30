#!/bin/bash
# `margay check` and `margay mutate` from outside: check_test.sh MARGAY RECORDED_REPORT CASE. The
# checked program is a shell script that leaves the report it is told to, as the runtime would; the
# cases of the whole path take a real one as a fourth argument.
set -euo pipefail

margay=$1
recorded=$2
case=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset "${!MARGAY_@}"

fail() { echo "FAILED: $*" >&2; cat said >&2 2>/dev/null || true; exit 1; }
says() {
  local text
  for text in "$@"; do grep -qF -- "$text" said || fail "it did not say '$text'"; done
}
says_not() { if grep -qF -- "$1" said; then fail "it said '$1'"; fi; }
# ends CODE ARGUMENT...: margay ends with CODE.
ends() {
  local wanted=$1 got=0
  shift
  "$margay" "$@" >out 2>said || got=$?
  [ "$got" = "$wanted" ] || fail "exit code $got, not $wanted: margay $*"
}
cp "$recorded" with_errors.json
python3 - <<'PYTHON'
import json
report = json.load(open("with_errors.json"))
report["findings"] = [f for f in report["findings"] if f["severity"] != "error"]
json.dump(report, open("without_errors.json", "w"))
PYTHON
# The program: leaves the report $1 and ends with $2.
cat >program <<'PROGRAM'
#!/bin/bash
cat "$1" >"${MARGAY_CHECK_JSON/\%p/$$}"
exit "$2"
PROGRAM
chmod +x program

environment() {
  echo 'memcheck:leak' >known.txt
  ends 0 check --tool racecheck,memcheck --max-findings 5 --suppressions known.txt \
    --adversarial 7 --leak-check --mfma fma --threads 3 -- env
  cp out said
  says MARGAY_CHECK=memcheck,racecheck MARGAY_CHECK_MAX=5 "MARGAY_CHECK_SUPPRESSIONS=$work/known.txt" \
    MARGAY_CHECK_ADVERSARIAL=7 MARGAY_CHECK_LEAKS=1 MARGAY_MFMA=fma MARGAY_THREADS=3 \
    "LD_LIBRARY_PATH=$(dirname "$(dirname "$margay")")/lib"
  ends 0 check -- env
  cp out said
  says MARGAY_CHECK=all MARGAY_CHECK_MAX=100
  says_not ADVERSARIAL
  says_not LEAKS
  ends 0 check --adversarial -- env
  cp out said
  says MARGAY_CHECK_ADVERSARIAL=1
  directory=$(dirname "$(sed -n 's/^MARGAY_CHECK_JSON=//p' out)")
  [ -n "$directory" ] || fail "no MARGAY_CHECK_JSON"
  [ ! -e "$directory" ] || fail "$directory is still there"
}

exit_codes() {
  ends 1 check ./program with_errors.json 0
  says '========= margay check: 2 errors, 1 note, 1 piece of advice, 3 suppressed (memcheck, racecheck, waitcheck), adversarial seed 7'
  ends 1 check ./program with_errors.json 5
  ends 42 check --error-exitcode 42 ./program with_errors.json 5
  ends 0 check --error-exitcode 0 ./program with_errors.json 5
  ends 0 check ./program without_errors.json 0
  says '========= margay check: no errors, 1 note'
  ends 5 check ./program without_errors.json 5
  says 'program ended with exit code 5'
  echo '{"version":1' >cut.json
  ends 1 check ./program cut.json 0
  says 'the report of one process is lost'
}

json() {
  ends 1 check --json out.json -- ./program with_errors.json 0
  python3 -c 'import json
assert json.load(open("out.json")) == json.load(open("with_errors.json"))'
  ends 1 check --json nowhere/out.json -- ./program without_errors.json 0
  says 'cannot be written' nowhere/out.json
}

several_processes() {
  ends 1 check --json out.json -- sh -c \
    './program with_errors.json 0; ./program without_errors.json 0; ./program with_errors.json 0'
  says '4 errors, 3 notes'
  python3 -c 'import json
report = json.load(open("out.json"))
assert report["launches"] == 6, report["launches"]
assert report["sites"][0]["executions"] == 3 * 512
assert len(report["sites"]) == 2'
}

nothing_launched() {
  ends 0 check -- true
  says 'no kernel was launched'
  # A launch that was refused never ran, but it is a finding.
  sed 's/"launches": 2/"launches": 0/' with_errors.json >refused.json
  ends 1 check ./program refused.json 0
  says '2 errors'
  says_not 'no kernel'
  ends 3 check -- sh -c 'exit 3'
  says 'no kernel was launched' 'sh ended with exit code 3'
}

signals() {
  ends 139 check -- sh -c 'kill -SEGV $$'
  says 'sh ended by signal 11 (Segmentation fault)' 'left no report'
  says_not 'no kernel'
  ends 1 check -- bash -c './program with_errors.json 0; kill -SEGV $$'
  says 'ended by signal 11' '2 errors'
}

wrong_options() {
  ends 2 check --tool memchek -- true
  says 'No such tool: memchek' memcheck
  ends 2 check
  says 'which program?'
  ends 2 check --adversarial=x -- true
  says 'x is not a seed'
  ends 2 check --error-exitcode 256 -- true
  printf 'memcheck\nracecheck path=a\n' >bad.txt
  ends 2 check --suppressions bad.txt -- true
  says 'Line 2' 'there is no field path'
  ends 1 check --suppressions none.txt -- true
  says none.txt
  ends 1 check -- ./no-such-program
  says 'no such program'
  ends 2 mutate
  says 'which program?'
  ends 2 mutate --jobs 0 -- true
  ends 0 check --help
  ends 0 mutate --help
}

# The program as a mutant: removing the wait shows as an error, weakening it hangs, removing the
# barrier makes the program fail.
mutants() {
  cat >mutated <<'PROGRAM'
#!/bin/bash
case ${MARGAY_MUTATE-} in
  '') report=without_errors.json code=0 ;;
  _Z8micro_tkPKf@1c00=bf800000) report=with_errors.json code=1 ;;
  _Z8micro_tkPKf@1c00=bf8c0f71) sleep 60 ;;
  _Z8micro_tkPKf@1c04=bf800000) report=without_errors.json code=$FAILS ;;
  *) echo "$MARGAY_MUTATE" >unexpected; exit 1 ;;
esac
cat $report >"${MARGAY_CHECK_JSON/\%p/$$}"
exit $code
PROGRAM
  chmod +x mutated
  FAILS=6 ends 1 mutate --timeout 0.5 --json mutants.json -- ./mutated
  says '3 mutants of 2 waits, barriers and fences'
  cp out said
  says 'micro_tk' 'killed by memcheck out-of-bounds, racecheck write-after-read' 'killed by hang' \
    "only the program's own result: exit code 6" '2 of 3 (66.7 %) without' '2 of 3 (66.7 %) of all'
  [ ! -e unexpected ] || fail "an unexpected mutant: $(cat unexpected)"
  python3 -c 'import json
summary = json.load(open("mutants.json"))["summary"]
assert summary["killed"] == 2 and summary["own_result"] == 1, summary'
  FAILS=0 ends 1 mutate --timeout 0.5 -- ./mutated
  cp out said
  says 'SURVIVED, though something depended on it' '1 mutant survived without an explanation'
  # Nothing depended on the barrier: then it is equivalent.
  sed -i 's/"ordered": 500/"ordered": 0/' without_errors.json
  FAILS=0 ends 0 mutate --timeout 0.5 --jobs 1 -- ./mutated
  cp out said
  says 'equivalent in this run: no data passed' '2 of 2 (100.0 %) without' '2 of 3 (66.7 %) of all'
  FAILS=0 ends 0 mutate --timeout 0.5 --kernel 'micro*' -- ./mutated
  FAILS=0 ends 1 mutate --kernel other -- ./mutated
  says 'no s_waitcnt, no s_barrier and no fence ran in a kernel called other'
}

mutants_of_a_bad_program() {
  ends 2 mutate -- ./program with_errors.json 0
  says 'the unchanged program already has 2 errors' '  fix  '
  ends 2 mutate -- ./program without_errors.json 4
  says 'the unchanged program already fails: exit code 4'
  ends 1 mutate -- true
  says 'true launched no kernel'
  # All mutants of this program do what it does: nothing new is found.
  ends 1 mutate --keep-going -- ./program with_errors.json 4
  cp out said
  says 'SURVIVED' '0 of 3 (0.0 %) without equivalent'
}

# A real program; what the checker finds in it is the checker's.
whole_path_check() {
  ends 0 check -- "$program"
  says '========= margay check: no errors (memcheck, racecheck, initcheck, synccheck, waitcheck)'
  ends 9 check --error-exitcode 9 --json out.json -- "$program" broken
  says '========= racecheck: ' 'exchange.hip:13 in' 'exchange.hip:15 in' ', workgroup (0,0,0)' ds_write_b32 \
    'kernel exchange, launch 1, seen' ' error'
  python3 -c 'import json
report = json.load(open("out.json"))
assert report["launches"] == 1 and report["tools"][0] == "memcheck"
assert not any(site["is_barrier"] for site in report["sites"]), "it does not run"
assert [f["tool"] for f in report["findings"] if f["severity"] == "error"].count("racecheck") == 1'
  ends 9 check --error-exitcode 9 --max-findings 0 -- "$program" broken
  says_not 'ds_write'
  says ' error'
  echo '* function=exchange file=exchange.hip' >known.txt
  got=0
  "$margay" check --suppressions known.txt -- "$program" broken >out 2>said || got=$?
  # The program's own code: its result may be wrong or, by luck, right.
  [ "$got" = 0 ] || [ "$got" = 3 ] || fail "exit code $got"
  says 'no errors' suppressed
  says_not 'ds_write'
  ends 0 check --tool memcheck -- "$program"
  says 'no errors (memcheck)'
}

whole_path_mutate() {
  ends 0 mutate --json mutants.json -- "$program"
  cp out said
  says exchange 's_barrier' 'exchange.hip:1' 'kill rate: '
  python3 -c 'import json
result = json.load(open("mutants.json"))
barriers = [m for m in result["mutants"] if m["instruction"].startswith("s_barrier")]
assert [m["result"] for m in barriers] == ["killed"], barriers
assert any(by.startswith("racecheck") for by in barriers[0]["by"]), barriers
assert result["summary"]["killed"] >= 3 and result["summary"]["survived"] == 0'
  ends 2 mutate -- "$program" broken
  says 'the unchanged program already has'
}

program=${4-}
"$case"
