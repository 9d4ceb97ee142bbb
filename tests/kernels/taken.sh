# SPDX-License-Identifier: MIT
# taken FILE...: puts into `files` the programs that the driver runs by itself. At some of generate.py's PoCL 6.0 ends the
# process, gpusparc or not: a helper that asks get_num_groups for a computed dimension lacks a symbol, _num_groups_y.
taken() {
  local f rc
  files=("$@")
  ! "$GS_BUILD/tests/run_kernels" taken.bin "${files[@]}" >/dev/null 2>&1 || return 0
  files=()
  for f in "$@"; do
    rc=0
    "$GS_BUILD/tests/run_kernels" taken.bin "$f" >/dev/null 2>&1 || rc=$?
    if [ $rc -ge 128 ]; then
      echo "left out, $f: the driver alone ends by signal $((rc - 128))"
    else
      files+=("$f")
    fi
  done
  [ $((2 * ${#files[@]})) -ge $# ] || { echo "FAILED: the driver runs ${#files[@]} of $# programs"; exit 1; }
}
