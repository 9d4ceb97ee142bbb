#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench/gpu_visit.sh on halves of the CPU, as small as can be: a row of each part, and none is wrong. And where gpusparc has
# a driver that computes nothing (tests/e2e/fake/) and a process ends by a signal, each part says that it is; daemon,
# pooled and contexts, which see it as table_v does, are left out.
. "$GS_SOURCE/tests/samples/lib.sh"
gpusparc run -- true 2>/dev/null || { echo "left out: gpusparc runs nothing here"; exit 77; }
rm -rf ./* && mkdir bin
export GPUSPARC_DEVICES=cpu:2 SAMPLES=matmul PROGRAMS=threads_on_halves RUNS=1 TURNS=1
parts="calls daemon table_v pooled exits right contexts first"

# shellcheck disable=SC2086
"$GS_SOURCE/bench/gpu_visit.sh" ${parts// /:900 }:900 >right.txt 2>&1 || fail "exit status $?: $(cat right.txt)"
! grep -q WRONG right.txt || fail "wrong: $(cat right.txt)"
for part in $parts; do grep -q "^| $part | .*[0-9]" right.txt || fail "no row of $part: $(cat right.txt)"; done

cat >bin/gpusparc <<END
#!/usr/bin/env bash
case "\$*" in
  *exit_during_compile*) kill -SEGV \$\$ ;;
  run*) export GPUSPARC_REAL=$GS_BUILD/tests/e2e/fake.so GPUSPARC_DEVICES=gpu ;;
esac
exec "$GS_BUILD/bin/gpusparc" "\$@"
END
chmod +x bin/gpusparc
parts="calls table_v exits right first"
# shellcheck disable=SC2086
PATH=$PWD/bin:$PATH "$GS_SOURCE/bench/gpu_visit.sh" ${parts// /:900 }:900 >wrong.txt 2>&1 && fail "nothing is wrong: $(cat wrong.txt)"
for part in $parts; do grep -q "^| $part | \*\*WRONG" wrong.txt || fail "$part isn't found wrong: $(cat wrong.txt)"; done
[ "$failures" -eq 0 ]
