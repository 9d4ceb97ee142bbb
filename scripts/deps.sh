#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what the build, the demo and the tests need on Debian 12 and 13 and on Ubuntu 24.04, where the packages have the
# same names. Does nothing where all is there already. Without root and sudo it says what to install, and exits with 1.
#   scripts/deps.sh          to build and run
#   scripts/deps.sh --test   to run the tests as well
#   scripts/deps.sh --list [--test]   only prints the packages
set -euo pipefail
[[ ${1:-} != --help && ${1:-} != -h ]] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
packages=(gcc g++ libc6-dev cmake ninja-build pkg-config python3-minimal
  opencl-c-headers opencl-clhpp-headers ocl-icd-libopencl1 ocl-icd-opencl-dev pocl-opencl-icd libclang-19-dev
  libinih-dev libjansson-dev libncurses-dev librsvg2-bin)
test_packages=(libcmocka-dev libgmp-dev python3 binutils clinfo python3-pyopencl python3-numpy libclblast-dev
  coinor-cbc glpk-utils clang-19 dpkg-dev file spin bats libjemalloc2)
# The version whose formatting the sources have; Debian 13 hasn't got it.
grep -qs '^VERSION_ID="13"' /etc/os-release || test_packages+=(clang-format-14)
list=
for option in "$@"; do
  case $option in
  --test) packages+=("${test_packages[@]}") ;;
  --list) list=1 ;;
  *) echo "deps.sh: there is no option $option; --help names them" >&2; exit 2 ;;
  esac
done
if [ -n "$list" ]; then
  printf '%s\n' "${packages[@]}"
  exit
fi
if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  echo "deps.sh: this is no Debian or Ubuntu; install what these packages hold: ${packages[*]}" >&2
  exit 1
fi
missing=()
for p in "${packages[@]}"; do
  dpkg-query -W -f '${Status}\n' "$p" 2>/dev/null | grep -q '^install ok installed' || missing+=("$p")
done
[ ${#missing[@]} -eq 0 ] && exit 0
sudo=
if [ "$(id -u)" -ne 0 ]; then
  sudo=sudo
  if ! command -v sudo >/dev/null || ! sudo true; then
    echo "deps.sh: installing packages takes root, and sudo doesn't give it; let an administrator run:" >&2
    echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
fi
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -q
for p in "${missing[@]}"; do
  apt-cache show "$p" >/dev/null 2>&1 || echo "deps.sh: the system's package sources have no $p (Debian 12, Debian 13 and Ubuntu 24.04 with universe and updates do)" >&2
done
$sudo apt-get install -y -q --no-install-recommends "${missing[@]}"
