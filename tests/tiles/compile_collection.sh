#!/bin/bash
# Compiles every kernel of a folder for gfx942, unmodified, and lists its resources.
#   compile_collection.sh MARGAY FOLDER OUTPUT_FOLDER [NAME_THAT_MUST_NOT_COMPILE...]
# For each NAME.cpp it leaves OUTPUT_FOLDER/NAME.hsaco. Nothing is run.
set -u
margay=$1 folder=$2 output=$3
shift 3
refused=" $* "
mkdir -p "$output" || exit 1
python_include=$(/usr/bin/python3 -c "import sysconfig; print(sysconfig.get_path('include'))")
passed=0
failed=0
for source in "$folder"/*.cpp; do
  name=$(basename "$source" .cpp)
  log=$output/$name.log
  if "$margay" hipcc -std=c++20 -O3 -w --genco --no-gpu-bundle-output -DKITTENS_CDNA3 \
    -I"$python_include" -Rpass-analysis=kernel-resource-usage "$source" -o "$output/$name.hsaco" \
    >"$log" 2>&1; then
    compiled=yes
    what=$(sed -nE 's/.*remark: +((VGPRs|AGPRs|ScratchSize|Occupancy)[^:]*: [0-9]+).*/\1/p' "$log" |
      paste -sd' ')
  else
    compiled=no
    what=$(grep -m1 'error:' "$log")
  fi
  wanted=yes
  case "$refused" in *" $name "*) wanted=no ;; esac
  if [ "$compiled" = "$wanted" ]; then
    passed=$((passed + 1))
    echo "ok    $name: $what"
  else
    failed=$((failed + 1))
    echo "WRONG $name (compiles: $compiled): $what"
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
