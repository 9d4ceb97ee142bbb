#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Over a driver that isn't PoCL: a sampler lives until the launches that use it have run, an address of no events is
# refused of each command that is refused plain, what ends by a marker without times has its parts', sub-buffers begin
# where they may plain; and under a daemon no image is filled behind a gate, and what stands behind a launch that is
# refused runs.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
export OPENCL_LAYERS=$programs/other_driver.so POCL_DEVICES="pthread pthread" SAMPLERS=$PWD/samplers.txt
rm -f samplers.txt
"$programs/replaced_samplers" >replaced_samplers.txt
"$programs/refused_launch" >refused_launch.txt
"$programs/contend" >contend.txt
"$programs/profiling" >profiling.txt
grep -q "launch: -57" refused_launch.txt || fail "the layer takes an address of no events"
for program in replaced_samplers refused_launch contend profiling; do
  for options in "--mode single" "--mode multi" "--mode auto" "--memory pooled"; do
    # shellcheck disable=SC2086
    timeout 200 gpusparc run --no-daemon --devices 0,1 $options "$programs/$program" >out.txt 2>err.txt || { cat out.txt err.txt; fail "$program, $options"; }
    [ ! -e samplers.txt ] || { sort samplers.txt | uniq -c; fail "$program, $options"; }
    cmp "$program.txt" out.txt || { diff "$program.txt" out.txt; fail "$program, $options: other output than plain"; }
  done
done
own_daemon gpus=1 transfer_chunk=64KiB </dev/null
begin_daemon --gpus 1
"$programs/chunks" >chunks.txt
for program in chunks refused_launch; do
  for mode in single multi; do
    timeout -s KILL 50 gpusparc run --gpus 1 --mode $mode "$programs/$program" >out.txt 2>err.txt || { cat out.txt err.txt; fail "$program under a daemon, $mode"; }
    cmp $program.txt out.txt || fail "$program under a daemon, $mode: other output than plain"
  done
done
end_daemon
sed -i 's/gpus = 1/gpus = 2/' "$dir/conf"
begin_daemon --gpus 2
GPUSPARC_TRANSFER=plain timeout -s KILL 50 gpusparc run --devices 0,1 --mode multi "$programs/profiling" >out.txt || fail "profiling under a daemon"
cmp profiling.txt out.txt || { diff profiling.txt out.txt; fail "profiling under a daemon: other output than plain"; }
end_daemon
echo passed
