# shellcheck shell=bash
# Makes a bare Debian 12 in a folder, for tools/fresh-machine and tools/check-wheel, which define `say` and
# `refuse`.

# The archives that this machine's apt uses, as "URL SUITE" lines; Debian's own where it has none.
archives() {
  apt-cache policy 2>/dev/null |
    sed -nE 's#^ *[0-9]+ (http[^ ]+) (bookworm[a-z-]*)/main [a-z0-9]+ Packages$#\1 \2#p' | sort -u
}

# may_make_machine: refuses where none can be made.
may_make_machine() {
  [ "$(id -u)" = 0 ] || refuse "only root can make such a machine"
  command -v debootstrap >/dev/null || refuse "debootstrap is missing: apt-get install debootstrap"
}

# make_machine FOLDER [OPTIONS OF DEBOOTSTRAP]...
make_machine() {
  local machine=$1 mirror
  shift
  mirror=$(archives | awk '$2 == "bookworm" {print $1; exit}')
  mirror=${mirror:-http://deb.debian.org/debian}
  say "making a bare Debian 12 in $machine"
  debootstrap --variant=minbase "$@" bookworm "$machine" "$mirror" >"$machine.debootstrap.log" 2>&1 || {
    tail -n 5 "$machine.debootstrap.log" >&2
    refuse "debootstrap failed; the log is $machine.debootstrap.log"
  }
  rm -f "$machine.debootstrap.log"
  archives | sed -E 's/(.*) (.*)/deb \1 \2 main/' >"$machine/etc/apt/sources.list"
  [ -s "$machine/etc/apt/sources.list" ] || echo "deb $mirror bookworm main" >"$machine/etc/apt/sources.list"
}
