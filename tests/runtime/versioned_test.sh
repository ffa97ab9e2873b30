#!/bin/bash
# versioned_test.sh COMPILER PROGRAM.cpp LIBRARY DIRECTORY: the program links with the library, whose
# references carry versions, and with the libamdhip64 in the directory; then it runs.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1" "$2" "$3" -L"$4" -lamdhip64 -Wl,-rpath-link,"$4" -o "$work/program"
LD_LIBRARY_PATH=$(dirname "$3"):$4 "$work/program"
