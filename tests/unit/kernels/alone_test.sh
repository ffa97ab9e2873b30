#!/bin/bash
# A kernel's plan.h needs no more of the repository than kernels/common: each is compiled, as C++17, from
# a copy of the two folders.
#   alone_test.sh COMPILER KERNELS_FOLDER
set -euo pipefail
compiler=$1
kernels=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0
for plan in "$kernels"/*/plan.h; do
  name=$(basename "$(dirname "$plan")")
  [ "$name" != common ] || continue
  rm -rf "${work:?}"/*
  cp -r "$kernels/$name" "$kernels/common" "$work"
  for header in plan.h ladder.h; do
    [ -e "$work/$name/$header" ] || continue
    echo "#include \"$work/$name/$header\"" |
      "$compiler" -std=c++17 -fsyntax-only -Wall -Wextra -Werror -Wno-unused-const-variable -x c++ -
    count=$((count + 1))
  done
done
[ "$count" -ge 6 ] || { echo "only $count headers were found"; exit 1; }
