#!/bin/sh
# Runs Session.RandomHandover on batches of 1000 other random kernels, with one seed each:
#
#     random_handover.sh BUILD FIRST LAST FOLDER
#
# BUILD: a build folder with check_session_test. Prints a line for each batch; FOLDER keeps the files
# of those that fail.
set -eu
here=$(dirname "$0")
build=$1 first=$2 last=$3 folder=$4
mkdir -p "$folder"
failed=0
for seed in $(seq "$first" "$last"); do
  base=$folder/sync_$seed
  python3 "$here/random_sync.py" 1000 "$seed" "$base.kernels" "$base.graphs"
  python3 "$here/kernels.py" "$base.s" "$base.expected" "$base.kernels"
  clang-19 --target=amdgcn-amd-amdhsa -mcpu=gfx942 "$base.s" -o "$base.hsaco"
  llvm-nm-22 "$base.hsaco" > "$base.symbols"
  if MARGAY_RANDOM_SYNC=$base "$build/tests/unit/observe/session/check_session_test" \
      --gtest_filter='Session.RandomHandover*' > "$base.log" 2>&1; then
    echo "$seed: $(grep ' kernels, ' "$base.log")"
    rm -f "$base".*
  else
    echo "$seed: FAILED, $base.log"
    failed=1
  fi
done
exit $failed
