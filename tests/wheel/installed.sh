#!/bin/bash
# What a user does with the wheel, where nothing else of Margay is: installs it, runs a Triton kernel under
# each tool without a C compiler, calls a kernel that ships, loads each name of the library, uninstalls.
#
#   env -i PATH=/usr/bin:/bin tests/wheel/installed.sh FOLDER PACKAGES
#
# FOLDER is new or empty and outside of the clone; PACKAGES holds the wheel, those of Triton and NumPy, and
# what they need. Prints a line for each step, and what a failed one said. Exits 1 if one failed.
# shellcheck disable=SC2317,SC2016  # the functions are called through step; some texts have backquotes
set -uo pipefail

programs=$(cd "$(dirname "$0")" && pwd -P)
packages=$2
mkdir -p "$1" && cd "$1" && folder=$PWD || exit 2
export HOME=$folder PATH=$folder/venv/bin:$PATH LANG=C.UTF-8
export TRITON_DEFAULT_FP_FUSION=1 HIP_CLANG_PATH=/nonexistent
# As where there is none.
if command -v gcc clang >/dev/null; then export MARGAY_TRITON_WITHOUT_C=1; fi
failed=0

step() {
  local name=$1 begin=$SECONDS
  shift
  if "$@" >log 2>&1; then
    printf '  passed  %-30s %3d s   %s\n' "$name" $((SECONDS - begin)) "$(tail -n 1 log | cut -c -90)"
  else
    failed=1
    printf '  FAILED  %s: %s\n' "$name" "$*"
    sed 's/^/    /' log
  fi
}
# succeeds PATTERN COMMAND...: with exit code 0, and a line of what it prints matches; fails, likewise.
matches() { grep -E -m 1 -- "$1" out || { cat out && return 1; }; }
succeeds() {
  "${@:2}" >out 2>&1 || { cat out && return 1; }
  matches "$1"
}
fails() {
  if "${@:2}" >out 2>&1; then cat out && return 1; fi
  matches "$1"
}

versions_agree() {
  local tool package
  tool=$(margay --version)
  package=$(python -c 'import margay; print("margay", margay.__version__)')
  echo "$tool"
  [ -n "$tool" ] && [ "$tool" = "$package" ] && ls "$packages"/"${tool/ /-}"-py3-none-*.whl
}
uninstalled() {
  pip uninstall -q -y margay
  ! find venv -path '*margay*' ! -name '*.pyc' ! -type d | grep .
}

python3 -m venv venv || exit 2
step "pip install" pip install -q --disable-pip-version-check --no-index --find-links "$packages" margay triton numpy
step "one version" versions_agree
step "margay run" succeeds '^sum 200.0$' margay run -- python "$programs/twice.py"
step "import margay.triton" succeeds '^sum 200.0$' python -c "import margay.triton, runpy
runpy.run_path('$programs/twice.py')"
step "margay check, nothing" succeeds 'margay check: no errors' margay check -- python "$programs/twice.py"
step "margay check, an error" fails 'write +twice.py:[0-9]+ in twice' margay check -- python "$programs/twice.py" unmasked
step "margay prof" succeeds 'limit +load latency' margay prof -- python "$programs/twice.py"
step "margay time" succeeds ' us at 2.10 GHz' margay time -- python "$programs/twice.py"
step "margay.matmul" succeeds '^all 64.0$' python -c 'import margay, numpy
a = margay.to_bfloat16(numpy.ones((64, 64)))
print("all", set(margay.matmul(a, a).flat).pop())'
step "names of the library" succeeds '^8 names, one library$' python "$programs/names.py"
step "margay hipcc, what it needs" fails 'the Python wheel has no compiler' margay hipcc a.hip
# With the compiler of this machine, where there is one: the program asks for libamdhip64.so.5.
if ! env -u HIP_CLANG_PATH margay hipcc --print-config | grep -E '^(compiler|HIP headers) .*MISSING' >/dev/null; then
  step "margay hipcc" env -u HIP_CLANG_PATH margay hipcc "$programs/twice.cpp" -o twice
  step "a program of it" succeeds '^42$' ./twice
fi
step "margay gemm, where it is" fails 'the Python wheel has no `margay gemm`' margay gemm
step "margay config rocm" fails 'which a Python wheel cannot hold' margay config rocm
step "margay doctor" succeeds 'everything that Margay needs is in place' margay doctor
step "pip uninstall" uninstalled
exit "$failed"
