#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the engine of `gpusparc run --hosts`: PoCL's remote driver and its server, from Debian's package pocl-source with
# gpusparc's edits (scripts/remote_edits.py, docs/hosts.md). Needed once on each machine, about two minutes of two cores.
# Does nothing where it is there already. The folder can't be moved afterwards.
#   scripts/remote.sh            into $XDG_DATA_HOME/gpusparc/remote (~/.local/share/gpusparc/remote), where it is found
#   scripts/remote.sh FOLDER     into FOLDER; GPUSPARC_ENGINE=FOLDER tells gpusparc
#   scripts/remote.sh --source FOLDER   only the edited source
set -euo pipefail
[[ ${1:-} != --help && ${1:-} != -h ]] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
package=pocl-source version=6.0-6 suite=trixie
here=$(cd "$(dirname "$0")" && pwd)
only_source=
if [ "${1:-}" = --source ]; then
  only_source=1
  shift
fi
case ${1:-} in -*) echo "remote.sh: there is no option $1; --help names them" >&2; exit 2 ;; esac
folder=${1:-${XDG_DATA_HOME:-$HOME/.local/share}/gpusparc/remote}
stamp="$version $(sha256sum <"$here/remote_edits.py" | cut -c1-16)"

fail()
{
  echo "remote.sh: $*" >&2
  exit 1
}

if [ -z "$only_source" ] && [ -x "$folder/bin/pocld" ] && [ "$(cat "$folder/VERSION" 2>/dev/null)" = "$stamp" ]; then
  echo "remote.sh: it is there: $folder"
  exit
fi
for tool in apt-get dpkg-deb cmake ninja g++ python3; do
  command -v $tool >/dev/null || fail "$tool is missing; on Debian 12 and 13: apt-get install cmake ninja-build g++ python3"
done
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
work=$(mktemp -d "$folder/build.XXXXXX")
trap 'rm -rf "$work"' EXIT

# Where the system's own lists have no such version, lists of ours: of the same mirror, with the same keys.
fetch()
{
  cd "$work"
  apt-get download -qq "$package=$version" 2>/dev/null && return
  local mirror
  mirror=$(apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(COMPONENT)' 'Created-By: Packages' |
    awk '$2 == "Debian" && $3 == "main" {print $1}' | grep -v security | head -1)
  [ -n "$mirror" ] || fail "apt has no lists of a Debian mirror; apt-get update gets them"
  mkdir -p lists/partial archives/partial
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >sources.list
  local apt=(apt-get -qq -o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o "Dir::State::Lists=$work/lists" -o "Dir::Cache::archives=$work/archives" -o "Dir::Cache::pkgcache=" -o "Dir::Cache::srcpkgcache="
    -o APT::Sandbox::User=root)
  "${apt[@]}" update || fail "the lists of $suite can't be had"
  "${apt[@]}" download "$package=$version" || fail "the mirror has no $package $version in $suite, which the edits are for"
}

(fetch)
dpkg-deb -x "$work/${package}_${version}_all.deb" "$work/package"
mkdir "$work/source"
tar -xJf "$work/package/usr/src/pocl.tar.xz" -C "$work/source" --strip-components=1
python3 "$here/remote_edits.py" "$work/source"
if [ -n "$only_source" ]; then
  mv "$work/source" "$folder/source"
  echo "remote.sh: $folder/source"
  exit
fi
log=$folder/build.log
{
  cmake -G Ninja -S "$work/source" -B "$work/build" -DCMAKE_BUILD_TYPE=Release "-DCMAKE_INSTALL_PREFIX=$folder" \
    "-DPOCL_INSTALL_ICD_VENDORDIR=$folder/vendors" -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DENABLE_IPO=OFF \
    -DENABLE_HOST_CPU_DEVICES=0 -DENABLE_LLVM=0 -DENABLE_ICD=1 -DENABLE_REMOTE_CLIENT=1 -DENABLE_REMOTE_SERVER=1 \
    -DENABLE_EXAMPLES=OFF -DENABLE_TESTS=OFF &&
    cmake --build "$work/build" -j "${REMOTE_JOBS:-$(nproc)}" && cmake --install "$work/build"
} >"$log" 2>&1 || fail "the build failed; $log has its words"
[ -x "$folder/bin/pocld" ] && ls "$folder"/vendors/*.icd >/dev/null || fail "the build has no server or no driver; see $log"
echo "$stamp" >"$folder/VERSION"
echo "remote.sh: built in $folder"
