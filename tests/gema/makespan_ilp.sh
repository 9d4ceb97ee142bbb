#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The paper's integer program, solved by cbc (and small ones by glpsol), gives what the dynamic program gives.
set -euo pipefail
for p in cbc glpsol; do
  command -v $p >/dev/null || { echo "$p is missing: run scripts/deps.sh --test"; exit 1; }
done
field() { python3 -c 'import json,sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }

# case STRING W SIGMA_L SIGMA_C SOLVER
case_() {
  local json horizon expected got
  json=$(gpusparc makespan "$1" --warps "$2" --sigma-l "$3" --sigma-c "$4" --ilp ilp.lp --json)
  horizon=$(field safe_bound <<<"$json")
  expected=$(field lower <<<"$json")
  [ "$(field exact <<<"$json")" = True ]
  if [ "$5" = cbc ]; then
    timeout 100 cbc ilp.lp solve solution ilp.sol >ilp.log
    grep -q '^Optimal' ilp.sol || { cat ilp.sol; exit 1; }
    got=$(sed -n '1s/.*objective value *-*\([0-9]*\)\..*/\1/p' ilp.sol)
  else
    timeout 100 glpsol --lp ilp.lp -o ilp.sol >ilp.log
    got=$(sed -n 's/^Objective:.*= *\([0-9]*\) .*/\1/p' ilp.sol)
  fi
  echo "$1 W=$2 sigma $3 $4: $5 $got, dynamic program $expected (horizon $horizon)"
  [ "$got" = "$expected" ]
}

case_ LLC 2 1 1 glpsol
case_ LL 4 2 1 cbc
case_ LLC 3 1 1 cbc
case_ LCL 3 1 1 cbc
case_ LCC 3 2 1 cbc
case_ CLL 3 1 2 cbc
case_ LLC 4 1 1 cbc
case_ LLCLL 2 1 1 cbc

# The counter-example to equations 5 to 7: within the paper's own horizon the program returns 4, not 5.
gpusparc makespan LL --warps 4 --sigma-l 2 --ilp ilp.lp --horizon 4 --no-exact >/dev/null
glpsol --lp ilp.lp -o ilp.sol >ilp.log
grep -q '^Objective:.*= 4 ' ilp.sol

# What can't be written is said.
refuse() {
  local message=$1
  shift
  ! "$@" >out.txt 2>&1 || { echo "$* passed"; exit 1; }
  grep -q -e "$message" out.txt || { echo "$*:"; cat out.txt; exit 1; }
}
refuse 'no barriers' gpusparc makespan 'L|C' --warps 2 --ilp ilp.lp
refuse 'more than 10000000 terms' gpusparc makespan LLCLL --warps 200 --no-exact --ilp ilp.lp
refuse '/dev/full: No space left' gpusparc makespan LLC --warps 3 --ilp /dev/full
refuse 'no/where.lp: No such file' gpusparc makespan LLC --warps 3 --ilp no/where.lp
refuse '--horizon wants --ilp' gpusparc makespan LLC --warps 3 --horizon 4
