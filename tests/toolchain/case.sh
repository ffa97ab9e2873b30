# Sourced by the scripts of this folder: SCRIPT MARGAY CASE runs in a folder of its own, which is
# removed when it ends.
set -euo pipefail

margay=$1
case=$2
# shellcheck disable=SC2034  # for the scripts
prefix=$(cd "$(dirname "$margay")/.." && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "FAILED: $*" >&2; exit 1; }
said() { grep -q -- "$1" said || { cat said >&2; fail "it did not say: $1"; }; }
status() {  # WANTED-EXIT-CODE COMMAND...
  local wanted=$1 got=0
  shift
  "$@" >said 2>&1 || got=$?
  [ "$got" = "$wanted" ] || { cat said >&2; fail "exit code $got, not $wanted: $*"; }
}
run() { status 0 "$@"; }
