#!/bin/bash
# The launcher and the checks in tools/, on small trees made for the purpose:
# scripts_test.sh MARGAY CASE (the program itself is not used here)
set -euo pipefail

case=$2
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "FAILED: $*" >&2; exit 1; }
# status WANTED COMMAND...: runs it, keeps what it says in $work/said.
status() {
  local wanted=$1 got=0
  shift
  "$@" >"$work/said" 2>&1 || got=$?
  [ "$got" = "$wanted" ] || { cat "$work/said" >&2; fail "exit code $got, not $wanted: $*"; }
}
said() { grep -qF -- "$1" "$work/said" || { cat "$work/said" >&2; fail "it did not say: $1"; }; }

# A clone in which everything is built, with a cmake that only writes down that it was called.
fake_clone() {
  mkdir -p clone/{src,include,kernels,python,cmake,tools,build/release/bin} path
  cp "$source/margay" clone/
  cp "$source/tools/install-packages" clone/tools/
  : >clone/tools/packages.txt
  : >clone/CMakeLists.txt
  : >clone/CMakePresets.json
  : >clone/src/a.cpp
  printf '#!/bin/sh\necho "program $*"\n' >clone/build/release/bin/margay
  # shellcheck disable=SC2016  # the script expands these
  printf '#!/bin/sh\necho "cmake $*" >>"%s"\nexit "${CMAKE_STATUS:-0}"\n' "$work/calls" >path/cmake
  chmod +x clone/build/release/bin/margay path/cmake
  : >clone/build/release/build.ninja
  echo "CMAKE_HOME_DIRECTORY:INTERNAL=$(cd clone && pwd -P)" >clone/build/release/CMakeCache.txt
  : >calls
  find clone -exec touch -d '1 hour ago' {} +
  : >clone/build/release/.packages
  : >clone/build/release/.built-first_run
  : >clone/build/release/.built-product
  export PATH=$work/path:$PATH
}

launcher_starts_at_once() {
  fake_clone
  status 0 clone/margay gemm --m 3
  said 'program gemm --m 3'
  [ ! -s calls ] || fail "it built although nothing had changed"
  ln -s clone/margay link
  (cd / && status 0 "$work/link" x)
  said 'program x'
}

launcher_helps_without_a_build() {
  fake_clone
  touch -d '1 hour' clone/src/a.cpp clone/tools/packages.txt
  status 0 clone/margay test --help
  said 'usage: ./margay test'
  [ ! -s calls ] || fail "help started a build"
}

launcher_builds_what_changed() {
  fake_clone
  touch -d '1 hour' clone/src/a.cpp
  status 0 clone/margay x
  grep -q -- '--build .* --target product' calls || fail "it did not build"
  : >calls
  touch clone/src/a.cpp
  touch -d '1 second' clone/build/release/.built-product
  rm clone/src/a.cpp
  touch -d '2 seconds' clone/src # what removing it a moment later would do
  status 0 clone/margay x
  grep -q -- '--build' calls || fail "it missed a removed file"
  : >calls
  find clone -exec touch -d '1 hour ago' {} +
  touch clone/build/release/.packages clone/build/release/.built-product
  MARGAY_REBUILD=1 status 0 clone/margay x
  grep -q -- '--build' calls || fail "MARGAY_REBUILD=1 did nothing"
}

# What a new user runs first must not wait for what it does not need.
launcher_builds_what_a_command_needs() {
  fake_clone
  rm -r clone/build
  status 0 clone/margay build # which makes the folder; nothing is in it
  grep -q -- '--preset release -DMARGAY_HOST_LEVELS=all' calls || fail "build is not for all levels"
  local wanted command
  while read -r wanted command; do
    rm -rf clone/build calls
    mkdir -p clone/build/release/bin
    : >clone/build/release/.packages
    printf '#!/bin/sh\necho "program $*"\n' >clone/build/release/bin/margay
    chmod +x clone/build/release/bin/margay
    # shellcheck disable=SC2086  # words
    status 0 clone/margay $command
    said "program $command"
    grep -qx -- "cmake --build .* --target $wanted" calls || { cat calls; fail "$command does not build $wanted"; }
    grep -q -- '--preset release -DMARGAY_HOST_LEVELS=native' calls || fail "$command builds more than this host's level"
  done <<'END'
first_run gemm
first_run gemm --m 3
product gemm --level 3
product gemm --m 3 --time
product run -- ./gemm
product check -- ./program gemm
END
}

launcher_builds_each_size_once() {
  fake_clone
  rm clone/build/release/.built-*
  status 0 clone/margay gemm
  grep -q -- '--target first_run' calls || fail "it did not build"
  : >calls
  status 0 clone/margay gemm
  [ ! -s calls ] || fail "it built first_run again"
  status 0 clone/margay asm
  grep -q -- '--target product' calls || fail "it took first_run for the product"
  : >calls
  status 0 clone/margay asm
  [ ! -s calls ] || fail "it built the product again"
  # The larger holds the smaller.
  rm clone/build/release/.built-*
  status 0 clone/margay asm
  : >calls
  status 0 clone/margay gemm
  [ ! -s calls ] || fail "it built first_run after the product"
}

# How much there is to do is said before it is done.
launcher_says_what_a_test_run_is() {
  fake_clone
  cp "$source/tools/test-summary" clone/tools/
  printf '#!/bin/sh\nprintf "[%%s/700] a step\\n" 1 700\n' >path/ninja
  cat >path/ctest <<'END'
#!/bin/sh
case $* in
  *" -N -L fast"*) echo "Total Tests: 2000" ;;
  *" -N -R one"*) echo "Total Tests: 3" ;;
  *) for word; do log=$word; [ "$was" != --output-log ] || break; was=$word; done
    echo "100% tests passed, 0 tests failed out of 5" | tee "$log" ;;
esac
END
  chmod +x path/*
  MARGAY_JOBS=2 status 0 clone/margay test --fast
  [ "$(grep -oE '700 steps, about [0-9]+ min|2000 tests, about [0-9]+ (s|min)|5 passed, 0 failed' said)" = \
    "$(printf '%s\n' '700 steps, about 9 min' '2000 tests, about 3 min' '5 passed, 0 failed')" ] ||
    { cat said; fail "it does not say what it will do"; }
  grep -q -- '--target all' calls || fail "it did not build everything"
  MARGAY_JOBS=1 status 0 clone/margay test -R one
  said '3 tests, about 1 s'
}

# What only slow tests need takes minutes to compile.
launcher_builds_for_slow_tests_when_they_run() {
  fake_clone
  # shellcheck disable=SC2016  # the script expands it
  printf '#!/bin/sh\n[ "$2" != -N ] || echo "Total Tests: 1"\n' >path/ctest
  printf '#!/bin/sh\n' >clone/tools/test-summary
  chmod +x path/ctest clone/tools/test-summary
  echo MARGAY_HOST_LEVELS:STRING=native >>clone/build/release/CMakeCache.txt
  echo MARGAY_TESTS:STRING=none >>clone/build/release/CMakeCache.txt
  status 0 clone/margay test --fast
  grep -qx -- 'cmake --preset release -DMARGAY_HOST_LEVELS=native -DMARGAY_TESTS=fast' calls ||
    { cat calls; fail "--fast builds for slow tests"; }
  sed -i 's/MARGAY_TESTS:STRING=none/MARGAY_TESTS:STRING=fast/' clone/build/release/CMakeCache.txt
  : >calls
  status 0 clone/margay test --fast
  status 0 clone/margay gemm
  if grep -q -- '--preset' calls; then fail "it configured again"; fi
  status 0 clone/margay test
  grep -qx -- 'cmake --preset release -DMARGAY_HOST_LEVELS=all -DMARGAY_TESTS=all' calls ||
    { cat calls; fail "it does not build for slow tests"; }
}

# Tests compare the levels, so that a build for one level becomes one for more; never the other way.
launcher_completes_the_levels() {
  # What the folder has, what is run, and the levels that it then has.
  local has command levels
  mkdir -p path
  # shellcheck disable=SC2016  # the script expands it
  printf '#!/bin/sh\n[ "$2" != -N ] || echo "Total Tests: 1"\n' >path/ctest
  chmod +x path/ctest
  while read -r has command levels; do
    fake_clone
    printf '#!/bin/sh\n' >clone/tools/test-summary
    chmod +x clone/tools/test-summary
    printf '%s\n' "MARGAY_HOST_LEVELS:STRING=$has" MARGAY_TESTS:STRING=fast >>clone/build/release/CMakeCache.txt
    rm clone/build/release/.built-*
    # shellcheck disable=SC2086  # words
    status 0 clone/margay ${command//_/ }
    if [ "$levels" = same ]; then
      if grep -q -- '--preset' calls; then fail "$command configured $has again"; fi
    else
      grep -q -- "--preset release -DMARGAY_HOST_LEVELS=$levels" calls || { cat calls; fail "$command left $has"; }
      if grep -q -- '--fresh' calls; then fail "it threw the build away"; fi
    fi
  done <<'END'
native build all
native gemm same
native test_--fast same
native test all
all gemm same
all test all
all test_--fast same
END
}

launcher_reports_a_failed_build() {
  fake_clone
  printf '%s\n' MARGAY_HOST_LEVELS:STRING=native MARGAY_TESTS:STRING=none >>clone/build/release/CMakeCache.txt
  touch -d '1 hour' clone/src/a.cpp
  CMAKE_STATUS=1 status 1 clone/margay x
  said 'the build failed'
  # The next start has to try again.
  : >calls
  CMAKE_STATUS=1 status 1 clone/margay x
  grep -q -- '--build' calls || fail "the failed build was taken for a good one"
}

launcher_configures_a_moved_clone() {
  fake_clone
  mv clone moved
  touch -d '1 hour' moved/src/a.cpp
  status 0 moved/margay x
  grep -q -- '--fresh --preset release' calls || fail "it kept the cache of another place"
}

packages() {
  echo 'bash  # there for certain' >there.txt
  status 0 "$source/tools/install-packages" there.txt
  [ ! -s said ] || fail "it said something although nothing is missing"
  printf 'bash\n# a comment\nno-such-package-1 # why\nno-such-package-2\n' >missing.txt
  MARGAY_INSTALL=0 status 1 "$source/tools/install-packages" there.txt missing.txt
  said 'apt-get install -y --no-install-recommends no-such-package-1 no-such-package-2'
}

# The same checksum for the same headers in another folder, another one for others, none for none.
compile_cached() {
  local folder
  # shellcheck disable=SC2317  # called through status
  precompile() {
    (cd "$1/build" && ../tools/compile-cached ccache clang++-19 -x c++-header "$work/$1/build/all.hxx" \
      -Xclang -emit-pch -MD -MF all.d -o all.pch)
  }
  for folder in one two; do
    mkdir -p $folder/{tools,src,build}
    cp "$source/tools/compile-cached" $folder/tools/
    echo 'inline int answer() { return 42; }' >$folder/src/own.h
    echo "#include \"$work/$folder/src/own.h\"" >$folder/build/all.hxx
    status 0 precompile $folder
    [ -s $folder/build/all.pch ] || fail "no header"
  done
  cmp one/build/all.pch.sum two/build/all.pch.sum || fail "the folder went into the checksum"
  sed -i 's/42/43/' two/src/own.h
  status 0 precompile two
  ! cmp -s one/build/all.pch.sum two/build/all.pch.sum || fail "what is in a header did not go into the checksum"
  echo 'int answer(' >two/src/own.h
  status 1 precompile two
  [ ! -e two/build/all.pch.sum ] || fail "an old checksum stays where there is no header"
  echo 'int answer();' >'one/src/other own.h'
  echo "#include \"$work/one/src/other own.h\"" >one/build/all.hxx
  status 0 precompile one
  [ ! -e one/build/all.pch.sum ] || fail "a checksum without what is in a header whose path has a space"

  # shellcheck disable=SC2016  # the script expands these
  printf '#!/bin/sh\necho "$CCACHE_PCH_EXTSUM $CCACHE_SLOPPINESS" "$@"\n' >cache
  chmod +x cache
  (cd one/build && ../tools/compile-cached "$work/cache" clang++-19 -Xclang -include -Xclang "$PWD/all.hxx" -c 'a b.cpp') >said
  said '1 pch_defines,time_macros clang++-19 -Xclang -include -Xclang all.hxx -c a b.cpp'
}

includes() {
  mkdir -p src/{base,isa,mfma,exec,cli,apps} include kernels
  for folder in src/*; do echo 'What belongs here.' >"$folder/README.md"; done
  echo '#include "base/error.h"' >src/isa/a.h
  echo '#include "isa/a.h"' >src/exec/a.cpp
  echo '#include <fmt/format.h>' >src/base/a.cpp
  status 0 "$source/tools/check-includes" .
  echo '#include "exec/a.h"' >src/isa/up.cpp
  status 1 "$source/tools/check-includes" .
  said 'src/isa/up.cpp:1: isa must not include exec'
  echo '#include "mfma/a.h"' >src/isa/up.cpp
  status 1 "$source/tools/check-includes" .
  said 'isa must not include mfma'
  rm src/isa/up.cpp
  echo '#include "cli/a.h"' >src/apps/a.cpp
  status 0 "$source/tools/check-includes" .
  echo '#include "apps/a.h"' >src/cli/up.cpp
  status 1 "$source/tools/check-includes" .
  said 'src/cli/up.cpp:1: cli must not include apps'
  rm src/cli/up.cpp
  echo '#include "base/error.h"' >kernels/k.cpp
  status 1 "$source/tools/check-includes" .
  said 'kernels/k.cpp:1: a HIP program must not include base'
}

checks_format_no_text() {
  mkdir -p src/observe/check/lds src/observe/profile
  echo 'What belongs here.' | tee src/observe/README.md src/observe/check/README.md \
    src/observe/check/lds/README.md >src/observe/profile/README.md
  echo '#include <fmt/format.h>' >src/observe/profile/a.cpp
  echo '#include "report/check/statements.h"' >src/observe/check/lds/a.cpp
  status 0 "$source/tools/check-includes" .
  echo '#include <fmt/format.h>' >src/observe/check/lds/b.cpp
  status 1 "$source/tools/check-includes" .
  said 'src/observe/check/lds/b.cpp:1: the checks format no text'
  echo '#include <sstream>' >src/observe/check/lds/b.cpp
  status 1 "$source/tools/check-includes" .
  said 'src/observe/check/lds/b.cpp:1: the checks format no text'
}

include_cycles() {
  mkdir -p src/exec/rows
  echo 'What belongs here.' | tee src/exec/README.md >src/exec/rows/README.md
  # Headers without a cycle, but b.cpp includes what includes b.h.
  echo '#include "exec/b.h"' >src/exec/a.h
  echo 'int b();' >src/exec/b.h
  echo '#include "exec/rows/row.h"' >src/exec/b.cpp
  echo 'int row();' >src/exec/rows/row.h
  status 0 "$source/tools/check-includes" .
  echo '#include "exec/a.h"' >>src/exec/b.cpp
  status 1 "$source/tools/check-includes" .
  said 'src/exec: 2 units include each other in a circle: exec/a, exec/b'
  status 0 "$source/tools/check-includes" . 'units exec'
  echo '#include "exec/rows/row.h"' >src/exec/b.cpp
  status 1 "$source/tools/check-includes" . 'units exec'
  said '"units exec" passes: remove it from NOT_YET'
  # No two units in a circle, but two folders.
  echo '#include "exec/rows/other.h"' >src/exec/c.h
  echo '#include "../b.h"' >src/exec/rows/other.h
  status 1 "$source/tools/check-includes" .
  said 'src/exec/rows: folders include each other in a circle: exec, exec/rows'
  status 1 "$source/tools/check-includes" . 'folders exec'
  status 0 "$source/tools/check-includes" . 'folders exec' 'folders exec/rows'
}

folders() {
  mkdir -p src/exec/rows tools tests/unit/exec
  echo '# What belongs here.' >src/exec/CMakeLists.txt
  for number in $(seq 25); do touch "tests/unit/exec/$number"; done
  touch src/exec/a.h
  status 0 "$source/tools/check-includes" .
  touch tests/unit/exec/26
  status 1 "$source/tools/check-includes" .
  said 'tests/unit/exec: 26 files, more than 25'
  status 0 "$source/tools/check-includes" . 'files tests/unit/exec'
  rm tests/unit/exec/26
  touch src/exec/rows/row.h
  status 1 "$source/tools/check-includes" .
  said 'src/exec/rows: say in a README.md what belongs there'
  echo '// Rows.' >src/exec/rows/rows.h
  status 0 "$source/tools/check-includes" .
  rm src/exec/rows/rows.h
  echo 'add_library(a)' >src/exec/CMakeLists.txt
  status 1 "$source/tools/check-includes" . 'purpose src/exec/rows'
  said 'src/exec: say in a README.md what belongs there'
}

text() {
  echo 'int a;' >good.cpp
  status 0 "$source/tools/check-text" good.cpp
  printf '// TO''DO later\n' >marked.cpp
  printf 'p = "/ho''me/someone/x"\n' >path.py
  printf 'int a; \n' >space.cpp
  printf 'int a;' >end.cpp
  seq 701 >long.h
  for file in marked.cpp path.py space.cpp end.cpp long.h; do
    status 1 "$source/tools/check-text" "$file"
    said "$file"
  done
}

words() {
  mkdir -p src tests
  echo 'const char* text = "never"; // a wave reads it' >src/good.cpp
  echo 'const char* text = "no''body"; // of tests only the comments' >tests/good.cpp
  status 0 "$source/tools/check-text" src/good.cpp tests/good.cpp
  echo '// Who''ever reads it.' >src/comment.cpp
  echo 'const char* text = "no''body";' >src/string.cpp
  echo '// It st''ands here.' >tests/comment.hip
  for file in src/comment.cpp src/string.cpp tests/comment.hip; do
    status 1 "$source/tools/check-text" "$file"
    said "$file:1: "
  done
}

mnemonics() {
  mkdir -p src/{exec,isa,apps/fuzz}
  cat >src/exec/good.cpp <<'END'
// row.mnemonic == "v_swap_b32" in a comment is no decision
const Row* row = rows_.find(encoded->mnemonic);
fault("the instruction " + std::string(i.row->mnemonic) + " is not implemented");
row.mnemonic = one.mnemonic;
constexpr LaneRow kRows[] = {{"v_swap_b32", swap_rows}, {"v_readlane_b32", read_lane}};
if (text == "s_waitcnt is a word here") return;
END
  status 0 "$source/tools/check-mnemonics" .
  while IFS= read -r line; do
    echo "$line" >src/exec/bad.cpp
    status 1 "$source/tools/check-mnemonics" .
    said 'src/exec/bad.cpp:1: '
  done <<'END'
if (row.mnemonic.starts_with("v_")) return;
const bool swaps = i.row->mnemonic == "v_swap_b32";
if (kName != row_->mnemonic) return;
const auto operation = row.mnemonic.substr(2);
const std::string_view name = i.row->mnemonic;
std::string text(row.mnemonic);
if (site.text.starts_with("s_waitcnt")) return;
if (is_one_of(name, {"v_rcp_", "v_rsq_"})) return;
constexpr std::string_view kNames[] = {"v_add_f32", "v_sub_f32"};
END
  printf 'if (row.mnemonic\n        .ends_with("_f16")) return;\n' >src/exec/bad.cpp
  status 1 "$source/tools/check-mnemonics" .
  said 'src/exec/bad.cpp:2: a mnemonic is examined'
  # Who decodes and who writes assembly may.
  mv src/exec/bad.cpp src/isa/bad.cpp
  cp src/isa/bad.cpp src/apps/fuzz/bad.cpp
  status 0 "$source/tools/check-mnemonics" .
}

declare -F "$case" >/dev/null || fail "no such case: $case"
"$case"
