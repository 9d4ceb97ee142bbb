#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what the build, the demo and the tests need on Debian 12. Does nothing where all is there already.
#   scripts/deps.sh          to build and run
#   scripts/deps.sh --test   to run the tests as well
set -euo pipefail
[[ ${1:-} != --help && ${1:-} != -h ]] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
packages=(gcc g++ libc6-dev cmake ninja-build pkg-config python3-minimal
  opencl-c-headers opencl-clhpp-headers ocl-icd-libopencl1 ocl-icd-opencl-dev pocl-opencl-icd libclang-19-dev
  libinih-dev libjansson-dev libncurses-dev gnuplot-nox)
test_packages=(libcmocka-dev libgmp-dev python3 binutils hashcat openssl clinfo python3-pyopencl python3-numpy libclblast-dev libclfft-dev
  coinor-cbc glpk-utils)
[ "${1:-}" = --test ] && packages+=("${test_packages[@]}")
missing=()
for p in "${packages[@]}"; do
  dpkg-query -W -f '${Status}\n' "$p" 2>/dev/null | grep -q '^install ok installed' || missing+=("$p")
done
[ ${#missing[@]} -eq 0 ] && exit 0
sudo=
[ "$(id -u)" -eq 0 ] || sudo=sudo
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -q
$sudo apt-get install -y -q --no-install-recommends "${missing[@]}"
