#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The makespan's figures: exact values and times for some strings, and how far the safe bound lies above the
# exact value for all strings of 1 to 8 letters. Wants `gpusparc` on the PATH.
set -euo pipefail
[[ ${1:-} != --help && ${1:-} != -h ]] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
command -v gpusparc >/dev/null || { echo "$(basename "$0"): gpusparc is not on the PATH" >&2; exit 1; }
out=$(mktemp)
trap 'rm -f "$out"' EXIT
timed() {
  local begin end
  begin=$(date +%s.%N)
  "$@" >"$out"
  end=$(date +%s.%N)
  python3 -c 'import json,sys; j=json.load(open(sys.argv[1])); print("  exact %s: %d, safe %d, equations 5-7 %d, %.2f s" % (
    j["exact"], j["lower"], j["safe_bound"], j["equation5"], float(sys.argv[3])-float(sys.argv[2])))' "$out" "$begin" "$end"
}
for w in 64 110 600; do
  echo "LLCLL, sigma 1/1, W = $w"
  timed gpusparc makespan LLCLL --warps $w --json
done
for w in 44 64 420; do
  echo "LCLCL, sigma_L 1/2, W = $w"
  timed gpusparc makespan LCLCL --sigma-l 1/2 --warps $w --json
done
for w in 16 32; do
  echo "LLCCLL, sigma 1/1, W = $w (the bound is not attained, so the dynamic program runs)"
  timed gpusparc makespan LLCCLL --warps $w --json
done
python3 - <<'P'
import itertools, json, subprocess
for sigma in ("1", "2"):
    ratios = []
    for n in range(1, 9):
        for s in itertools.product("LC", repeat=n):
            if s[0] == "C" and sigma == "1" and n > 6:
                continue  # swapping L and C changes nothing
            for w in (4, 8):
                j = json.loads(subprocess.run(["gpusparc", "makespan", "".join(s), "--warps", str(w), "--sigma-l", sigma,
                                               "--sigma-c", sigma, "--json"], capture_output=True, text=True, check=True).stdout)
                assert j["exact"]
                ratios.append(j["safe_bound"] / j["lower"])
    print(f"all strings up to 8 letters, W 4 and 8, sigma {sigma}: safe bound over exact: mean {sum(ratios)/len(ratios):.4f}, "
          f"greatest {max(ratios):.4f}, equal in {sum(r == 1 for r in ratios)} of {len(ratios)}")
P
