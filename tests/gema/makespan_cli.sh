#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# gpusparc makespan as its user sees it.
set -euo pipefail
command=makespan
source "$GS_SOURCE/tests/cli/refuses.sh"
has() { grep -qF -- "$1" out.txt || { cat out.txt; fail "missing: $1"; }; }

gpusparc makespan LCL --warps 4 --approx 2 --schedule >out.txt
has "8  UNSAFE here"
has "9  exact; a schedule attains it"
has "Clock cycle 1 2 3 4 5 6 7 8 9"

gpusparc makespan LL --warps 4 --sigma-l 2 >out.txt
has "4  UNSAFE here"
gpusparc makespan LCLCL --sigma-l 1/2 --warps 420 --json >out.txt
has '"exact": true'
has '"lower": 2522'
has '"safe_bound": 2522'
has '"equation5": 3360'

gpusparc makespan LLCLL --warps 8 --groups 6 --multiprocessors 2 --resident 2 --clock 1000 --overhead 500 >out.txt
has "gpu 620ns"
has "a new one starts as soon as one ends"

cat >k.ptx <<'P'
.version 7.0
.target sm_70 // .entry comment(
.address_size 64
/* .entry nothing() { } */
.visible .entry scale(
  .param .u64 scale_param_0,
  .param .u32 scale_param_1
)
{
  .reg .pred %p<2>;
  .reg .f32 %f<4>;
  ld.param.u64 %rd1, [scale_param_0];
  mov.u32 %r1, %tid.x;
  setp.ge.u32 %p1, %r1, 100;
  @%p1 bra $L_end;
  mov.u32 %r2, 0;
$L_loop:
  .loc 1 3 5
  ld.global.v2.f32 {%f1, %f2}, [%rd1+4];
  fma.rn.f32 %f3, %f1, %f2, 0f3F800000;
  sin.approx.f32 %f3, %f3;
  st.global.f32 [%rd1], %f3;
  add.s32 %r2, %r2, 1;
  setp.lt.s32 %p1, %r2, 4;
  @%p1 bra $L_loop;
  bar.sync 0;
$L_end: ret;
}
.visible .entry other() { exit; }
P
gpusparc makespan --ptx k.ptx --kernel scale --path n --loop '$L_loop=2' --warps 2 --special --sigma S=1/2 >out.txt
# LCCCC (LCSSLCCC)x2 | C: 5 + 2 * 8 + 1 instructions
has "22 instructions in 2 phases after the 1/n transformation: 5 L (sigma 1), 13 C (sigma 1), 4 S (sigma 1/2)"
gpusparc makespan --ptx k.ptx --kernel scale --path t --warps 2 >out.txt
has "5 instructions in 1 phase after the 1/n transformation: 1 L (sigma 1), 4 C (sigma 1)"
gpusparc makespan --ptx k.ptx --kernel other --warps 3 --expand exit=7 >out.txt
has "7 instructions in 1 phase"

refuses 1 "k.ptx: there are several kernels, name one of: scale, other" --ptx k.ptx --warps 2
refuses 1 "there is no kernel 'scal'" --ptx k.ptx --kernel scal --warps 2
refuses 1 "k.ptx: line 15: it is not told whether 'bra' is taken" --ptx k.ptx --kernel scale --warps 2
refuses 1 "give one with --loop \$L_loop=N" --ptx k.ptx --kernel scale --path n --warps 2
refuses 1 "no branch leads back to a label 'no'" --ptx k.ptx --kernel scale --path n --loop no=2 --warps 2
refuses 1 "1 letter more" --ptx k.ptx --kernel other --path t --warps 2
refuses 1 "missing.ptx could not be read" --ptx missing.ptx --warps 2
refuses 2 "--warps" LC
refuses 2 "--warps wants a number" LC --warps 0
refuses 2 "capacity" LC --warps 2 --sigma-l 3/2
refuses 2 "capital letter" LxC --warps 2
refuses 2 "--frobnicate" LC --warps 2 --frobnicate
refuses 2 "either one instruction string or --ptx" --warps 2

# A long search shows where it is, on a terminal alone, and says after Ctrl-C which bounds it has.
long=(gpusparc makespan 'L3C2L2C4LCLLC3(LLC)3C4' --warps 60 --sigma-l 2)
rc=0
"$GS_SOURCE/tests/common/ctrl_c.py" 'first search: [0-9]+ of at most 1447 cycles' "${long[@]}" >out.txt 2>err.txt || rc=$?
[ $rc = 130 ] || { cat err.txt; fail "Ctrl-C gave $rc"; }
has "to 1447 (stopped before the search was over)"
grep -q "stopped before the search was over: the bounds are those known by then" err.txt || fail "no word of Ctrl-C"
"${long[@]}" --json >out.txt 2>err.txt &
pid=$!
# It catches the signal once it searches.
until [ $((0x$(sed -n 's/^SigCgt:\t//p' /proc/$pid/status) & 2)) != 0 ]; do kill -0 $pid || break; sleep 0.02; done
kill -INT $pid
rc=0
wait $pid || rc=$?
[ $rc = 130 ] && [ "$(wc -l <err.txt)" = 1 ] || { cat err.txt; fail "Ctrl-C with --json gave $rc"; }
has '"complete": false'
has '"upper": 1447'
echo passed
