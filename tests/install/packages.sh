#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# cpack makes the two packages: who needs what, what lies where, and that lintian finds no errors where it is installed.
set -euo pipefail
fail() { echo "FAILED: $*"; exit 1; }
for program in dpkg-deb dpkg-shlibdeps file; do
  command -v $program >/dev/null || { echo "left out: $program isn't there: dpkg-dev and file have what cpack wants"; exit 77; }
done
rm -rf packed && mkdir packed
(cd "$GS_BUILD" && cpack -G DEB -B "$OLDPWD/packed") >cpack.txt 2>&1 || { cat cpack.txt; fail "cpack"; }
version=$(gpusparc --version | sed 's/gpusparc //')
for name in gpusparc gpusparc-samples; do
  deb=$(echo "packed/${name}_${version}_"*.deb)
  [ -f "$deb" ] || fail "there is no $name $version"
  [ "$(dpkg-deb -f "$deb" Package)" = $name ] || fail "the name of $deb"
  [ "$(dpkg-deb -f "$deb" Version)" = "$version" ] || fail "the version of $deb"
  dpkg-deb -c "$deb" >packed/list
  grep -q "root/root.* ./usr/share/doc/$name/copyright$" packed/list || fail "$name has no copyright file, or isn't root's"
  mkdir "packed/$name"
  dpkg-deb -x "$deb" "packed/$name"
  if command -v lintian >/dev/null; then
    lintian --allow-root --fail-on error "$deb" 2>&1 || fail "lintian: $name"
  else
    echo "left out, what lintian says of $name: it isn't installed"
  fi
done
dpkg-deb -f packed/gpusparc_*.deb Depends | grep -q "libclang-common-19-dev.*libclang1-19" || fail "gpusparc needs libclang"
dpkg-deb -f packed/gpusparc-samples_*.deb Depends | grep -qv libclang || fail "the samples need no libclang"
root=packed/gpusparc/usr
for file in bin/gpusparc bin/gpusparcd lib/gpusparc/gpusparc-translate lib/gpusparc/libgpusparc.so lib/gpusparc/opencl/libOpenCL.so.1 \
  lib/gpusparc/scripts/remote.sh lib/gpusparc/scripts/remote_edits.py \
  lib/systemd/system/gpusparcd.service share/man/man1/gpusparc-run.1.gz share/bash-completion/completions/gpusparc \
  share/doc/gpusparc/README.md share/doc/gpusparc/docs/overview.md; do
  [ -e $root/$file ] || fail "gpusparc has no $file"
done
[ ! -e $root/lib/gpusparc/samples ] && [ -x packed/gpusparc-samples/usr/lib/gpusparc/samples/matmul ] || fail "where the samples are"
grep -qx "ExecStart=/usr/bin/gpusparcd" $root/lib/systemd/system/gpusparcd.service || fail "the unit's path"
find packed/gpusparc packed/gpusparc-samples ! -type l -perm /022 | grep . && fail "files that others may write"
out=$(env -i HOME="$HOME" PATH=/usr/bin:/bin XDG_CACHE_HOME="$PWD/cache" GPUSPARC_SOCKET="$PWD/none" $root/bin/gpusparc run --mode multi \
  --devices cpu:2 packed/gpusparc-samples/usr/lib/gpusparc/samples/vectoradd --size 65536)
[ "$out" = "vectoradd 65536 PASS" ] || fail "the unpacked programs: $out"
# What --hosts lacks is named by a path that is there, and runs.
said=$(env -i HOME="$PWD" PATH=/usr/bin:/bin GPUSPARC_SOCKET="$PWD/none" $root/bin/gpusparc run --hosts localhost true 2>&1) && fail "--hosts without an engine"
script=$(grep -o '/[^ ]*/scripts/remote.sh' <<<"$said") || fail "--hosts says: $said"
[ -x "$script" ] && "$script" --help | grep -q "remote.sh FOLDER" || fail "$script"
echo passed
