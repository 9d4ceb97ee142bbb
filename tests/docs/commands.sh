#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs every gpusparc command that README.md and docs/ show in a block, once, in a folder with what they name: an application, kernels,
# a config, samples that take no time. A synopsis (with brackets) is looked at with --help.
set -euo pipefail
fail() { echo "FAILED: $*" >&2; exit 1; }
gpusparc run -- true 2>/dev/null || { echo "left out: gpusparc runs nothing here"; exit 77; }
rm -rf ./*
samples=$GS_BUILD/lib/gpusparc/samples
printf '#!/bin/sh\nexec "%s/vectoradd" --size 65536 --no-check >/dev/null\n' "$samples" >app
chmod +x app
cp "$samples/vectoradd.cl" kernels.cl
cat >gpusparc.conf <<'END'
[system]
gpus = 2
cpus = 2
gpu_chunk = 700us
pci_chunk = 200us
[task detector]
match = */detector
period = 400ms
segments.1 = cpu 2ms, pci 3ms, gpu 20ms, pci 5ms, cpu 5ms
[task camera]
match = */camera
period = 500ms
segments.1 = cpu 2ms, pci 3ms, gpu 20ms, pci 5ms, cpu 5ms
END
mkdir fakes
for name in matmul vectoradd; do
  cat >fakes/$name <<'END'
#!/bin/sh
[ "$GPUSPARC_MODE" = multi ] || [ "$GPUSPARC_MODE" = auto ] && total=5 || total=10
while [ $# -gt 0 ]; do [ "$1" = --output ] && echo right >"$2"; shift; done
echo "fake 1 PASS"
echo "{\"write_ms\": 1.0, \"kernel_ms\": 3.0, \"read_ms\": 1.0, \"total_ms\": $total.0, \"iterations\": 1}"
END
  chmod +x fakes/$name
  echo "$name | compute | --tiny | size:1000:1:1" >>fakes/MANIFEST
done
gpusparc bench --samples fakes --runs 3 --output gpusparc-bench >/dev/null 2>&1

# The commands: FILE:LINE where it stands first, a tab, and the line without its comment; a line that ends in \ goes on.
commands() {
  python3 - "$GS_SOURCE" <<'END'
import glob, re, sys
shown = set()
for page in [sys.argv[1] + "/README.md"] + sorted(glob.glob(sys.argv[1] + "/docs/*.md")):
    fenced, start, text = False, 0, ""
    for n, line in enumerate(open(page, encoding="utf-8"), 1):
        if line.startswith("```"):
            fenced = not fenced
            continue
        if not fenced:
            continue
        start, text = (start, text + " " + line.strip()) if text else (n, line.strip())
        if text.endswith("\\"):
            text = text[:-1]
            continue
        text = re.sub(r"\s+#.*|\s{4,}.*", "", re.sub(r"^\$ ", "", text))
        if re.match(r"(env \S+ .*)?(build/bin/)?gpusparc ", text) and not re.match(r"gpusparc: ", text) and text not in shown:
            shown.add(text)
            print(f"{page.rsplit('/', 1)[1]}:{start}\t{text}")
        text = ""
END
}

export GPUSPARC_SOCKET=$PWD/sock
gpusparc daemon --config gpusparc.conf --socket "$PWD/sock" 2>daemon.log &
daemon=$!
trap 'kill $daemon 2>/dev/null || true; wait' EXIT
for _ in $(seq 100); do gpusparc status >/dev/null 2>&1 && break; sleep 0.1; done
n=0
while IFS=$'\t' read -r where command; do
  n=$((n + 1))
  shown=$command
  command=${command//build\/bin\/gpusparc/gpusparc}
  command=${command//build\//$GS_BUILD/}
  command=${command//samples\/NAME/samples/vectoradd --size 65536}
  command=${command//\/etc\/gpusparc.conf/gpusparc.conf}
  command=${command//--output DIR/--output out$n}
  command=${command//--sets 50/--sets 5}
  for program in $(grep -oE '(^| )\./[a-z][a-z-]*( |$)' <<<"$command"); do
    [ -e "$program" ] || cp app "$program"
  done
  case $command in
  *"$GS_BUILD/tests/"*) # a test of its own runs that
    for file in $(grep -oE "$GS_BUILD/tests/[a-z0-9_/.]+" <<<"$command"); do [ -e "$file" ] || fail "$where: there is no $file"; done
    continue ;;
  *" --hosts "*) # wants other machines; tests/hosts has them; [] may be of an address
    gpusparc run --help | grep -q -- --hosts && command="${command%% --hosts*} --help" ;;
  *\[*) # a synopsis
    command="${command%% \[*} --help" ;;
  *"gpusparc bench"*)
    command+=" --samples fakes"
    [[ $command == *--output* ]] || command+=" --output out$n" ;;
  *"gpusparc daemon"* | *"gpusparc top"*) # one runs already; top wants a terminal
    command="gpusparc $(grep -oE 'daemon|top' <<<"$command" | head -1) --help" ;;
  *"gpusparc devices --check"*) command+=" --devices cpu:2" ;; # of one GPU nothing can be split
  *"gpusparc probe latency"*) command+=" --force --memory 8" ;;
  *"gpusparc probe handover"*) command=${command/handover/handover --runs 200} ;;
  *"gpusparc probe"*) command=$(sed 's/gpusparc probe [a-z]*/& --force/' <<<"$command") ;;
  *"gpusparc try ./app") command="gpusparc try --time 20s ./app" ;; # longer than some runs take on a busy machine
  *"gpusparc profile --task "*" -- "*) command=${command/ -- / --runs 1 -- } ;; # the last of two counts
  esac
  timeout 120 bash -c "$command" >out.txt 2>err.txt </dev/null || fail "$where: $shown: exit status $?: $(tail -n 3 out.txt err.txt)"
  for file in $(grep -oE '[a-z]+\.(html|svg|json)( |$)' <<<"$shown"); do
    [ -s "$file" ] || fail "$where: $shown: leaves no $file"
  done
done < <(commands)
[ $n -gt 30 ] || fail "only $n commands found"
echo "$n commands"
