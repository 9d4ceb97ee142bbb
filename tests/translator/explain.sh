# SPDX-License-Identifier: MIT
# gpusparc explain: what it says of kernels that are split and of those that are not, and how it ends.
set -euo pipefail
export XDG_CACHE_HOME=$PWD/cache
kernels=$GS_SOURCE/tests/kernels

# expect STATUS WORDS… -- ARGUMENTS: the exit status, and each of the words in the output.
expect() {
  local status=$1 words=() got=0
  shift
  while [ "$1" != -- ]; do words+=("$1"); shift; done
  shift
  gpusparc explain "$@" >out.txt 2>&1 || got=$?
  [ "$got" = "$status" ] || { echo "explain $*: exit status $got"; cat out.txt; exit 1; }
  for w in "${words[@]}"; do
    grep -qF -- "$w" out.txt || { echo "explain $*: no '$w' in"; cat out.txt; exit 1; }
  done
}

expect 0 'kernel order' 'never split' 'atomics_used.cl:8:9: it uses the result of an atomic' \
  '    8 |     out[atomic_inc(next) & 63] = 1;' '          |         ^~~~~~~~~~~~~~~~' -- "$kernels/atomics_used.cl"
expect 0 'runs on one device: it uses the result of an atomic' -- "$kernels/atomics_used.cl" --global 64 --local 8 --arg next=4 --arg out=256
# Loops that end by themselves, and such as wait for what another part's atomics do.
cat >loops.cl <<'END'
int closed(volatile __global int *l) { return atomic_cmpxchg(l, 0, 1); }
__kernel void bounded(__global int *l, __global int *o) { for (int i = 0; i < 9; i++) if (!closed(l)) break; *o = *l; }
__kernel void countdown(__global int *l, __global int *o, int n) { while (n--) o[n] = atomic_inc(l); }
__kernel void idle(__global int *l, __global int *o) { int go = 1; while (go) if (closed(l)) break; *o = atomic_inc(l); }
__kernel void told(__global int *l, __global int *o, int go) { while (go) if (atomic_or(l, 0)) break; *o = atomic_inc(l); }
__kernel void again(__global int *l, __global int *o) { for (int i = 0; i < 9; i = 0) if (atomic_or(l, 0)) break; *o = atomic_inc(l); }
__kernel void either(__global int *l, __global int *o, int go) { for (int i = 0; i < 9 || go; i++) if (atomic_or(l, 0)) return; *o = atomic_inc(l); }
__kernel void held(__global int *l, __global int *o) { for (int i = 0; i < 9; i++) if (closed(l)) i--; *o = *l; }
__kernel void queue(__global int *l, __global int *o, int n) { for (int i; (i = atomic_inc(l)) < n;) o[i] = i; }
__kernel void shared(__global int *l, __global int *o) { __local int s; do { s = atomic_or(l, 0); } while (!s); *o = atomic_inc(l); }
END
for k in bounded countdown; do expect 0 'in several launches' -- loops.cl --kernel $k; done
for k in idle told again either held queue shared; do expect 0 'never split:' -- loops.cl --kernel $k; done
# What is surely written behind a buffer's end, which drivers bear, would stay on its part's device. Not what may be.
cat >behind.cl <<'END'
__kernel void sums(__global const int *in, __global int *out) { if (get_local_id(0) == 0) out[get_group_id(0)] = in[get_global_id(0)]; }
__kernel void some(__global const int *in, __global int *out) { if (in[get_global_id(0)]) out[get_group_id(0)] = 1; }
__kernel void most(__global int *out, uint n) { if (get_global_id(0) < n) out[get_global_id(0)] = 1; }
END
ten="--global 640 --local 64 --arg in=2560"
expect 0 'runs on one device: it writes past the end of a buffer' -- behind.cl --kernel sums $ten --arg out=36
expect 0 'is split into 2 parts' -- behind.cl --kernel sums $ten --arg out=40
expect 0 'is split into 2 parts' -- behind.cl --kernel some $ten --arg out=36
expect 0 'is split into 2 parts' -- behind.cl --kernel most --global 640 --local 64 --arg n=600 --arg out=2400
expect 0 'runs on one device: it writes past the end of a buffer' -- behind.cl --kernel most --global 640 --local 64 --arg n=600 --arg out=2396

# What kernels do through pointers that aren't followed, they may do to any buffer.
cat >lost.cl <<'END'
__kernel void number(__global int *o) { *(__global int *)((ulong)o + 4 * get_global_id(0)) = 1; }
__kernel void block(__global int *o) { void (^put)(void) = ^{ o[get_global_id(0)] = 1; }; put(); }
__kernel void within(__global int *o) { o[0] = 1; }
__kernel void below(__global int *o) { enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(64), ^{ within(o); }); }
END
for k in number block below; do expect 0 'o            read and written, its address escapes' 'never split' -- lost.cl --kernel $k -- -cl-std=CL2.0; done
# A part for which a buffer is too small: it may be that it writes nothing.
echo '__kernel void add(__global int *o, __global int *p) { if (p[get_global_id(0)]) o[get_global_id(0)] += 1; }' >small.cl
expect 0 'o            reads [0, 100): 100 bytes, writes [0, 100): 100 bytes' 'o            reads nothing, writes nothing' -- \
  small.cl --global 4096 --arg o=100 --arg p=16K
expect 0 'never split' 'it waits for other work-groups' -- "$kernels/waits.cl"
# Which loops end without the other parts' atomics.
gpusparc explain "$GS_SOURCE/tests/translator/spins.cl" >out.txt
awk '/^kernel/ { name = $2 } /^  it (is|can be split, as) / { n++; if ((name ~ /^end_/) != ($0 ~ /in several launches/)) { print name ": " $0; bad = 1 } }
     END { exit bad || n != 25 }' out.txt || { grep -c "^kernel" out.txt; exit 1; }
expect 0 'it prints' -- "$kernels/prints.cl" --global 8
expect 0 'it can be split as it is' 'split into 2 parts along dimension 1' 'a: ' -- "$kernels/plain.cl" --global 33,7 --arg a=924
expect 0 'reads  a[get_global_id(1)*33 + get_global_id(0)]  line 8' '[0, 528): 528 bytes' '[528, 924)' \
  'each part owns what it writes' "values that --arg doesn't say" -- "$kernels/plain.cl" --global 33,7 --arg a=924
expect 0 'into 3 parts' 'work-items [6, 22)' -- "$kernels/helper_deep.cl" --global 48 --local 8 --offset 6 --gpus 3
expect 0 'runs on one device: it has fewer work-groups' -- "$kernels/helper_deep.cl" --global 8 --local 8
expect 0 'but only with --allow reorder: with -cl-fast-relaxed-math' 'runs on one device: its build options' -- "$kernels/helper_deep.cl" --global 48 --local 8 -- -w -cl-fast-relaxed-math
expect 0 'as --allow reorder permits' 'into 2 parts' -- "$kernels/helper_deep.cl" --global 48 --local 8 --allow reorder -- -cl-unsafe-math-optimizations
expect 0 'it can be split as it is' 'split into 2 parts' -- "$kernels/plain.cl" --global 33,7 -- -cl-fast-relaxed-math
# Where one dimension counts rows as well, parts end with whole ones: 7.5 work-groups, so that every 15 do; or 683 for 32.
cat >rows.cl <<'END'
__kernel void pitched(__global int *o, int w, int h, int pitch) { int i = get_global_id(0); if (i / w < h) o[i / w * pitch + i % w] = 1; }
__kernel void upside_down(__global int *o, int w, int h) { int i = get_global_id(0); if (i / w < h) o[(h - i / w - 1) * w + i % w] = 1; }
__kernel void turned(__global int *o, int w, int h) { int i = get_global_id(0); if (i / w < h) o[i % w * h + i / w] = 1; }
__kernel void strewn(__global int *o, int w, int h) { o[get_global_id(0) * 7 % (w * h)] = 1; }
END
for k in "pitched --arg pitch=512" upside_down turned; do
  expect 0 'work-items [0, 44160)' 'work-items [44160, 87360)' 'each part owns' -- \
    rows.cl --kernel $k --global 130560 --local 64 --gpus 3 --arg w=480 --arg h=272
done
expect 0 'work-items [0, 349696)' 'each part owns' -- rows.cl --kernel upside_down --global 1049088 --local 64 --gpus 3 --arg w=1366 --arg h=768
expect 0 'work-items [0, 49152)' 'work-items [98304, 131072)' 'each part owns' -- "$kernels/access/ring_in_place.cl" --global 131072 --local 64 \
  --gpus 3 --arg f=1M --arg nx=128 --arg ny=128 --arg nz=8 # planes of 16384
expect 0 'work-items [0, 43520)' 'merged by comparison' -- rows.cl --kernel strewn --global 130560 --local 64 --gpus 3 --arg w=480 --arg h=272
expect 0 'local size is NULL' -- "$kernels/helper_deep.cl" --global 48
expect 0 'atomics: add' 'atomics: max' -- "$kernels/atomics_reducible.cl"
expect 0 'split into 2 parts' 'bins: reduced: add' 'largest: reduced: max' -- "$kernels/atomics_reducible.cl" --global 512 --local 16
expect 0 'const __gs_t __gs' '#line 1' -- "$kernels/helper_deep.cl" --source
expect 0 'unchanged' -- "$kernels/plain.cl" --source
expect 0 '#define of_two(__gs_0, __gs_1) of_two(__gs, __gs_0, __gs_1)' -- "$kernels/arguments.cl" --source
! grep -qF '(...)' out.txt || { echo 'the translation of arguments.cl has a variadic macro'; exit 1; }
expect 0 '#define of_list(...) of_list(__gs, __VA_ARGS__)' -- "$kernels/lists.cl" --source
expect 0 'kernel branches' -- "$kernels/branches.cl" -- -DWITH_GROUPS -D FACTOR=3 -DTEXT=get_group_id
expect 1 "$kernels/branches.cl:32:21: error: use of undeclared identifier 'TEXT'" 'go behind --' '   32 |              + (int)TEXT(0)' -- "$kernels/branches.cl"
expect 1 "$kernels/branches.cl:32:21: error: use of undeclared identifier 'TEXT'" -- "$kernels/plain.cl" "$kernels/branches.cl"
expect 1 '"refusal_site": {' '"line": 32' '"column": 21' branches.cl -- --json "$kernels/branches.cl"
# As for a device that isn't there, and for one with fewer features.
cat >half.cl <<'CL'
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__kernel void scale(__global half *x, float by) { x[get_global_id(0)] = x[get_global_id(0)] * (half)by; }
CL
cat >double.cl <<'CL'
#if defined(__IMAGE_SUPPORT__) || defined(cl_khr_fp16)
#error no such device
#endif
__kernel void twice(__global double *x) { x[get_global_id(0)] *= 2.0; }
CL
cat >image.cl <<'CL'
__kernel void fill(write_only image3d_t i) { write_imagef(i, (int4)(0), (float4)(1)); }
CL
echo '__kernel void add(__global long *x) { atom_add(x, 1L); }' >long.cl
echo '__kernel void sums(__global uint *x) { x[get_global_id(0)] = sub_group_reduce_add((uint)1); }' >sub.cl
expect 0 'it can be split as it is' -- half.cl --as fp16
expect 0 'into 2 parts' '[0, 64): 64 bytes' -- half.cl --as fp64,fp16 --global 64 --local 8 --arg x=128
expect 1 "half.cl:2:101: error: casting to type 'half'" -- half.cl --as fp64
expect 1 "half.cl:2:101: error: casting to type 'half'" -- half.cl --as ''
expect 0 'it can be split as it is' -- double.cl --as fp64
expect 1 'requires cl_khr_fp64 support' -- double.cl --as ''
expect 1 'error: no such device' -- double.cl --as fp64,images
for cl in 1.2 3.0; do
  expect 0 'it can be split as it is' -- half.cl --as fp16 -- -cl-std=CL$cl
  expect 0 'kernel fill' -- image.cl --as 3d-image-writes -- -cl-std=CL$cl
  expect 1 'requires cl_khr_3d_image_writes' -- image.cl --as images -- -cl-std=CL$cl
  expect 0 'atomics: add' -- long.cl --as int64-atomics -- -cl-std=CL$cl
  expect 1 "call to 'atom_add' is ambiguous" -- long.cl --as fp64 -- -cl-std=CL$cl
done
expect 0 'kernel sums' -- sub.cl --as subgroups -- -cl-std=CL2.0
expect 1 "'sub_group_reduce_add'" -- sub.cl --as fp16 -- -cl-std=CL2.0
(export OCL_ICD_VENDORS=$PWD/none && expect 0 'kernel scale' -- half.cl --as fp16 && expect 1 "casting to type 'half'" -- half.cl)
for list in half fp16, ,fp16 fp16,half; do
  expect 2 "'$list' is no value for --as: it takes a list of fp16, fp64, images, 3d-image-writes, int64-atomics, subgroups" -- half.cl --as $list
done
# Launches that no driver takes.
cat >fixed.cl <<'CL'
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void fixed(__global float *x) { x[get_global_id(0)] = 1; }
__kernel void any(__global float *x) { x[get_global_id(0)] = 1; }
CL
expect 0 "can't be made: any driver refuses it: its work-groups have 32 work-items in dimension 0, the kernel requires 64 (CL_INVALID_WORK_GROUP_SIZE" -- \
  fixed.cl --kernel fixed --global 128 --local 32
expect 0 "can't be made: any driver refuses it: 100 work-items in dimension 0 can't be divided into work-groups of 64 (CL_INV" -- fixed.cl --kernel fixed --global 100
expect 0 "can't be made: any driver refuses it: 100 work-items in dimension 0 can't be divided into work-groups of 64; programs" -- \
  fixed.cl --kernel any --global 100 --local 64
expect 0 'this launch is split into 2 parts' -- fixed.cl --kernel any --global 100 --local 64 -- -cl-std=CL2.0
expect 0 'this launch is split into 2 parts' -- fixed.cl --kernel any --global 100
expect 0 'this launch is split into 2 parts' -- fixed.cl --kernel fixed --global 128
expect 0 "can't be made: any driver refuses it: no buffer has 0 bytes, as x would" -- fixed.cl --kernel any --global 128 --arg x=0
expect 0 "can't be made: this device's driver refuses it: a work-group has at most " " work-items there" -- fixed.cl --kernel any --global 8388608 --local 4194304
expect 0 '"invalid": "any driver refuses it' -- fixed.cl --kernel any --global 100 --local 64 --json
# With --memory pooled: turns, one device, and what fits none.
cat >pooled.cl <<'CL'
__kernel void smooth(__global const float *a, __global float *b, uint w, uint h)
{ uint x = get_global_id(0), y = get_global_id(1); size_t i = (size_t)y * w + x;
  float s = a[i]; if (y > 0) s += a[i - w]; if (y + 1 < h) s += a[i + w]; b[i] = s; }
__kernel void scatter(__global const uint *at, __global float *to) { to[at[get_global_id(0)]] = 1; }
CL
smooth=(pooled.cl --kernel smooth --global 16384,16384 --local 64,1 --arg w=16384 --arg h=16384 --arg a=1GiB --arg b=1GiB)
scatter=(pooled.cl --kernel scatter --global 16384 --local 64 --arg at=64K --arg to=1GiB)
expect 0 'on 2 devices of 4 GiB, it runs in 2 turns along dimension 1, side by side on the devices; the largest takes 1.00 GiB' -- "${smooth[@]}" --memory 4GiB
expect 0 'on 3 devices of 1 GiB, it runs in 6 turns along dimension 1' 'the largest takes 342 MiB' -- "${smooth[@]}" --memory 1GiB --gpus 3
expect 0 "on 2 devices of 16 MiB, it doesn't fit: one work-group may touch more bytes than fit on a device" -- "${smooth[@]}" --memory 16MiB
expect 0 "it runs on one device: its parts may write the same bytes or read each other's, and it fits on one device, where it takes 1.00 GiB" -- "${scatter[@]}" --memory 8GiB
expect 0 "it doesn't fit: one work-group may touch more bytes than fit on a device" -- "${scatter[@]}" --memory 1GiB
expect 0 '"fits": true' '"turns": 2' '"dimension": 1' '"in_order": false' -- "${smooth[@]}" --memory 4GiB --json
expect 0 '"fits": false' '"reason": "one work-group may touch' -- "${scatter[@]}" --memory 1GiB --json
expect 2 "'0' is no value for --memory: it takes a size such as 24GiB" -- "${scatter[@]}" --memory 0
expect 2 '--memory asks about a launch: --global says its size' -- pooled.cl --memory 1GiB
expect 0 ', but only with gpusparc run --allow reorder:' -- "$kernels/float_sums.cl"
expect 0 '; --allow reorder permits it:' -- "$kernels/float_sums.cl" --allow reorder
expect 0 'the program has no kernel' -- /dev/null
expect 1 '--arg nothing=4: no kernel has such an argument' -- "$kernels/plain.cl" --global 33,7 --arg nothing=4
expect 2 "'-4' is no value for" -- "$kernels/plain.cl" --global 33,7 --arg a=-4
expect 2 "'x' is no value for --global: it takes up to three numbers above zero" -- "$kernels/plain.cl" --global=x
expect 2 "'1' is no value for --gpus: it takes a number from 2 to 16" -- "$kernels/plain.cl" --gpus=1
expect 2 "'n' is no value for --arg: it takes an argument's name and its value" -- "$kernels/plain.cl" --arg=n
expect 1 'no kernel nowhere' -- "$kernels/plain.cl" --kernel nowhere
expect 1 "can't be read" -- missing.cl
expect 2 'there is no file' --
expect 2 'no option' -- "$kernels/plain.cl" --nonsense
expect 2 'is no value' -- "$kernels/plain.cl" --global 0
expect 2 'is no value for float by' -- "$kernels/plain.cl" --global 8 --arg by=much
expect 2 'same number of dimensions' -- "$kernels/plain.cl" --global 8,8 --local 8
gpusparc explain "$kernels/struct_buffers.cl" --global 24 --local 4 --json >out.json
python3 - <<'PYTHON'
import json
d = json.load(open("out.json"))
first, second = d["kernels"]
assert first["name"] == "first" and first["launch"]["split"] and len(first["launch"]["parts"]) == 2
assert any(a["kind"] == "writes" and a["line"] == 13 for a in first["arguments"][0]["accesses"])
assert first["arguments"][0]["may_read"] and first["arguments"][0]["may_write"] and not first["arguments"][0]["escapes"]
assert d["changed"] and second["hidden_argument"] and second["uses_group"]
PYTHON
