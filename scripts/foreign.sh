#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs programs that you name plain and under gpusparc in turns (gpusparc try), and makes one table of their times, which
# are those of whole processes. "first" is gpusparc's first run of a program, with an empty cache; the others come later.
#   scripts/foreign.sh MANIFEST [TRY-OPTION...]     as --time 30s (for each program), --gpus 4, --devices cpu:2
# MANIFEST has a line for each program, in three fields with a tab between them: its name; a regular expression of what
# it prints that may differ from run to run, as its times do (or -); and its command line, for bash. What it prints
# otherwise must be the same in all runs. Lines that begin with # are left out. GPUSPARC names the gpusparc to be used.
# Exit status: 0; 1 if a program failed, or its bytes weren't compared or were others; 2 for wrong usage.
set -euo pipefail
[[ ${1:-} != --help && ${1:-} != -h ]] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
[ -r "${1:-}" ] || { echo "foreign: no manifest '${1:-}'; --help says what it is" >&2; exit 2; }
manifest=$1
shift
gpusparc=${GPUSPARC:-gpusparc}
answers=$(mktemp -d)
trap 'rm -rf "$answers"' EXIT
export XDG_CACHE_HOME=$answers/cache
line=0
while IFS= read -r entry <&3 || [ -n "$entry" ]; do
  line=$((line + 1))
  [[ -n $entry && $entry != \#* ]] || continue
  IFS=$'\t' read -r name differs command <<<"$entry"
  [ -n "${command:-}" ] || { echo "foreign: $manifest:$line: not three fields with tabs between them" >&2; exit 2; }
  if [ "$differs" = - ]; then
    application=(bash -c "$command")
  else
    application=(env DIFFERS="$differs" bash -o pipefail -c "{ $command; } | python3 -c 'import os, re, sys; sys.stdout.write(re.sub(os.environ[\"DIFFERS\"], \"\", sys.stdin.read()))'")
  fi
  "$gpusparc" try --json "$@" -- "${application[@]}" >"$answers/$line.json" 2>"$answers/$line.err" || true
  printf '%s' "$name" >"$answers/$line.name"
done 3<"$manifest"
[ -n "$(ls "$answers"/*.name 2>/dev/null)" ] || { echo "foreign: $manifest names no program" >&2; exit 2; }
python3 - "$answers" <<'END'
import glob, json, math, os, sys

rows, factors, firsts, bad = [], [], [], False
for path in sorted(glob.glob(sys.argv[1] + "/*.name"), key=lambda p: int(os.path.basename(p)[:-5])):
    name, base = open(path).read(), path[:-5]
    try:
        answer = json.load(open(base + ".json"))
    except ValueError:
        answer = {"status": 1, "result": open(base + ".err").read().strip()[-100:]}
    if "error" in answer:
        answer = {"status": 1, "result": answer["error"]}
    if answer["status"] or not answer["same"] or not answer["compared"]:
        status = f"exit status {answer['status']}: " if answer["status"] else ""
        rows.append((name, "-", "-", "-", "-", "-", status + answer["result"]))
        bad = True
        continue
    middle = {way: sorted(answer["times"][way]["s"])[answer["rounds"] // 2] for way in (answer["base"], "default")}
    factor = answer["default"]["all"]
    interval = f" ({factor['low']:.2f} to {factor['high']:.2f})" if factor.get("low") else ""
    first = answer["times"]["default"]["first_s"]
    factors.append(factor["times"])
    firsts.append(middle[answer["base"]] / first)
    rows.append((name, f"{middle[answer['base']]:.3f}", f"{first:.3f}", f"{middle['default']:.3f}",
                 f"{factor['times']:.2f}{interval}", str(answer["rounds"]), answer["default"]["outcome"]))
print("| program | before, s | first, s | gpusparc, s | times as fast (95 %) | rounds | |\n"
      "| --- | ---: | ---: | ---: | ---: | ---: | --- |")
for row in rows:
    print("| " + " | ".join(row) + " |")
for what, found in (("", factors), ("first runs, ", firsts)):
    if found:
        mean = math.exp(sum(map(math.log, found)) / len(found))
        slower = sum(f < 0.97 for f in found)
        print(f"\nGeometric mean of {what}{len(found)}: {mean:.2f}; slower by more than 3 %: {slower}.")
sys.exit(bad)
END
