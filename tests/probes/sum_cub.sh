#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench/sum_cub.sh with a compiler that makes a script of the program: gpusparc's part runs on PoCL, NVIDIA's is told.
set -euo pipefail
source "$GS_SOURCE/tests/cli/refuses.sh"

python3 - <<'P'
import array
array.array("f", [(i % 7) / 8 - 0.25 for i in range(4096)]).tofile(open("floats", "wb"))
P
export NVCC=$PWD/nvcc RUNS=3 TURNS=2 DEVICE=1
cat >nvcc <<'E'
#!/usr/bin/env bash
echo "$@" >>"$(dirname "$0")/asked"
while [ "$1" != -o ]; do shift; done
cp "$(dirname "$0")/program" "$2"
E
chmod +x nvcc
told() { # NS SUM DIFFERENT: what NVIDIA's program prints
  cat >program <<E
#!/usr/bin/env bash
[ "\$1 \$2 \$CUDA_VISIBLE_DEVICES" = "$PWD/floats 3 1" ] || exit 3
printf 'device\t%s\nsum of |x|\t1500\ngpu_to_gpu\t%s\t%s\t%s\nrun_to_run\t1\t%s\t1\n' "${device:-$our}" $1 $2 $3 $2
E
  chmod +x program
}
bench() { # STATUS TEXT
  local rc=0
  "$GS_SOURCE/bench/sum_cub.sh" "$GS_BUILD" "$PWD/floats" >out.txt 2>&1 || rc=$?
  [ "$rc" = "$1" ] && grep -qF -- "$2" out.txt || { cat out.txt; fail "status $rc, or missing: $2"; }
}
gpusparc probe sum --input floats --runs 1 --methods exact --json >ours.json
our=$(sed -n 's/.*"device": "\(.*\)",/\1/p' ours.json) sum=$(sed -n 's/.*"last": \(.*\),/\1/p' ours.json)

told 1e9 "$sum" 1
bench 0 "exact / gpu_to_gpu: 0.00 (wanted"
grep -q "^exact  .* $sum$" out.txt && grep -q "^run_to_run  .* $sum$" out.txt || { cat out.txt; fail "a row is missing"; }
told 1e-9 "$sum" 1
bench 1 "(wanted: 1.3 at most)"
told 1e9 "$sum" 2
bench 1 "WRONG: gpu_to_gpu gave 2 different sums"
told 1e9 "$(awk "BEGIN { printf \"%.9g\", $sum + 0.002 }")" 1
bench 1 "WRONG: gpu_to_gpu differs from the exact sum by 0.002"
device="another one" told 1e9 "$sum" 1
bench 1 "WRONG: gpusparc ran on $our"

# Headers: of a checkout and of a package; none by default.
told 1e9 "$sum" 1
mkdir -p checkout/{cub,thrust,libcudacxx/include} package/cub
: >asked
bench 0 "exact / gpu_to_gpu"
CCCL=$PWD/checkout bench 0 "exact / gpu_to_gpu"
CCCL=$PWD/package bench 0 "exact / gpu_to_gpu"
! grep -q -- '-I' <(sed -n 1p asked) || fail "headers that nobody gave"
grep -q -- "-I $PWD/checkout/cub -I $PWD/checkout/thrust -I $PWD/checkout/libcudacxx/include" <(sed -n 2p asked) || fail "$(cat asked)"
grep -q -- "-I $PWD/package/\. " <(sed -n 3p asked) || fail "$(cat asked)"
CCCL=$PWD/nowhere bench 1 "CCCL=$PWD/nowhere is no folder"

# What is missing is said.
NVCC=no-such-nvcc bench 1 "there is no 'no-such-nvcc' on the PATH"
printf '#!/bin/sh\necho "#error these headers are older" >&2; exit 2\n' >nvcc
bench 1 "sum_cub.cu could not be compiled"
grep -q "these headers are older" out.txt || fail "the compiler's message is lost"
echo passed
