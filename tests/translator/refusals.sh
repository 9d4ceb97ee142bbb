#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What gpusparc explain says of kernels that aren't split: each refusal of docs/messages.md that comes of a kernel's text,
# and each that comes of a launch's sizes and arguments and can be seen without a device.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
refusals=$GS_SOURCE/tests/translator/refusals.cl
gpusparc explain "$refusals" -- -cl-std=CL2.0 >all.txt || fail "explain: $(cat all.txt)"
n=0
while read -r line; do
  [[ $line == '//! '* ]] || continue
  printf -v name k%02d $((++n))
  awk -v k="$name" '/^kernel/ { on = $2 == k } on' all.txt >one.txt
  shows one.txt "${line#//! }"
done <"$refusals"
[ $n -ge 19 ] || fail "only $n refusals"

# says SENTENCE OPTION...: of a program as a whole, which comes on standard input
says() {
  local sentence=$1
  shift
  cat >program.cl
  gpusparc explain program.cl "$@" >one.txt 2>&1 || [ $? = 1 ] || fail "explain $*: $(cat one.txt)"
  shows one.txt "$sentence"
}
group='__kernel void grouped(__global int *o) { o[get_global_id(0)] = get_group_id(0); }'
says 'it asks whether there is a macro %.*s' <<<$'#ifdef get_group_id\n#endif\n'"$group"
says 'it has a macro by the name of the function %.*s' <<<$'#undef get_group_id\n'"$group"
says 'it names a built-in function in parentheses' <<<$'#define ID ,(get_group_id)\n'"$group"
says "its function %s is declared in a way that can't be changed" <<<"typedef int function(int); function helper;
int helper(int x) { return x + get_group_id(0); } __kernel void k(__global int *o) { o[0] = helper(0); }"
says "its text can't be read: %s%s%u:%u: %s" --json <<<'__kernel void unknown(__global int *o) { o[0] = nowhere; }'
says 'its text makes clang fail' <<<$'#pragma clang __debug crash\n'"$group"
says 'its text is nested too deeply' < <(printf '__kernel void deep(__global int *o) { o[0] = o[1]'; printf '+ o[1]%.0s' $(seq 21000); echo '; }')
says 'it is not written in OpenCL C (%s)' -- -cl-std=CLC++ <<<"$group"
says 'it is not written in OpenCL C (-x)' -- -x spir <<<"$group"

# Of a launch.
size="--global 128 --local 32"
says "the local size is NULL and the kernel's result may depend on it" --global 128 <<<"$group"
says 'it has fewer work-groups than there are devices' --global 32 --local 32 <<<"$group"
says 'it writes past the end of a buffer' $size --arg o=100 <<<"$group"
says 'its build options or pragmas let the compiler reorder floating-point operations, and a split compiles another text: the last bits may differ; --allow reorder permits it' \
  $size -- -cl-fast-relaxed-math <<<"$group"
says "a part may read what another part writes, so the result depends on the order of work-groups; --allow race permits it" $size \
  <<<'__kernel void turn(__global int *v) { v[get_global_id(0)] = v[get_global_size(0) - 1 - get_global_id(0)]; }'
