#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The pictures of gpusparc analyze and simulate: what they say, in which formats, and how large they may be.
set -euo pipefail
fail() { echo "FAILED: $*" >&2; exit 1; }
refuses() { # PATTERN COMMAND...: one line that says why, and no file
  local pattern=$1 rc=0
  shift
  "$@" >out 2>err || rc=$?
  [ "$rc" -ne 0 ] && [ "$(wc -l <err)" = 1 ] && grep -qE -- "$pattern" err || fail "$*: $rc $(cat err)"
}
rm -rf ./*
cat >three.conf <<'END'
[system]
gpus = 2
cpus = 8
[task detector]
period = 100ms
deadline = 30ms
priority = 1
segments.1 = cpu 2ms, pci 3ms, gpu 20ms, pci 5ms, cpu 5ms
[task tracker]
period = 150ms
priority = 2
segments.1 = cpu 4ms, pci 6ms, gpu 60ms, pci 10ms, cpu 8ms
[task logger]
period = 200ms
priority = 3
segments.1 = cpu 10ms, gpu 80ms, pci 20ms
END
timeline() { gpusparc analyze three.conf --timeline "$@" >/dev/null || [ $? -eq 1 ]; }

# A title, the axis with its unit and range, each task by name, which deadlines are missed; only the servers that work.
timeline x.svg --until 400ms
for said in 'three.conf: ' '>time (ms)<' '>400<' '>detector<' '>tracker<' '>logger<' '>gpu 1<' 'after the deadline' 'which it misses'; do
  grep -q -- "$said" x.svg || fail "the picture doesn't say $said"
done
! grep -q '>cpu 7<' x.svg || fail "processors that nobody has take room"
grep -q '>450<' x.svg && fail "the axis goes on behind --until"
python3 - <<'END' || fail "the picture's bars"
import xml.dom.minidom
d = xml.dom.minidom.parse("x.svg")
inner = [s for s in d.getElementsByTagName("svg") if s.getAttribute("class") == "zoom"][0]
width = float(inner.getAttribute("width"))
bars = inner.getElementsByTagName("rect")
assert len(bars) > 20
assert all(0 <= float(b.getAttribute("x")) and float(b.getAttribute("x")) + float(b.getAttribute("width")) <= width + 0.1 for b in bars)
assert not any(b.getAttribute("stroke") for b in bars)  # outlines would blacken short ones
END

# As many black pieces as late jobs, however many of a task are open at a time, and none covered: not by a bar, not by
# another piece, and wide enough to be seen. The trace says the same, on tracks whose pieces don't overlap.
cat >late.conf <<'END'
[system]
gpus = 1
cpus = 1
gpu_chunk = 1ms
pci_chunk = 1ms
[task a]
period = 40ms
segments.1 = gpu 70ms
END
cat >over.conf <<'END'
[system]
gpus = 2
cpus = 2
gpu_chunk = 2ms
pci_chunk = 1ms
[task alpha]
period = 40ms
segments.1 = cpu 1ms, pci 5ms, gpu 30ms, pci 5ms
[task beta]
period = 50ms
segments.1 = cpu 1ms, pci 5ms, gpu 45ms, pci 5ms
[task gamma]
period = 100ms
deadline = 60ms
segments.1 = cpu 1ms, pci 5ms, gpu 45ms, pci 5ms
END
sed 's/70ms/40001us/' late.conf >hair.conf
for set in late over hair; do
  for until in 120ms 1s; do
    for suffix in svg json; do
      gpusparc analyze $set.conf --timeline $set.$suffix --until $until >/dev/null || [ $? -eq 1 ]
    done
    python3 - $set <<'END' || fail "$set.svg, until $until: black pieces"
import json, re, sys, xml.dom.minidom
d = xml.dom.minidom.parse(sys.argv[1] + ".svg")
inner = [s for s in d.getElementsByTagName("svg") if s.getAttribute("class") == "zoom"][0]
def box(r):
    x, y, w, h = (float(r.getAttribute(k)) for k in ("x", "y", "width", "height"))
    return x, y, x + w, y + h
bars = inner.getElementsByTagName("rect")
black = [box(r) for r in bars if r.getAttribute("fill") == "black"]
jobs = [g for g in inner.getElementsByTagName("g") if g.getElementsByTagName("title")]
said = int(re.search(r"in the picture: (\d+) of \d+ jobs", d.toxml())[1])
end = float(re.search(r'data-end="([0-9.e+]+)"', d.toxml())[1])
ms = 1 if ">time (ms)<" in d.toxml() else 1000
events = json.load(open(sys.argv[1] + ".json"))["traceEvents"]
late = [e for e in events if e["ph"] == "X" and e["name"].endswith("misses its deadline")
        and e["ts"] + e["args"]["deadline_ns"] / 1e3 < end * ms * 1e3]
assert len(black) == said == len(late) > 0, (len(black), said, len(late))
everything = [box(r) for r in bars]
for b in black:
    assert b[2] - b[0] >= min(0.99, 1100 - b[0]), b
    over = [o for o in everything if o != b and min(o[2], b[2]) - max(o[0], b[0]) > 1.02 and min(o[3], b[3]) - max(o[1], b[1]) > 0.01]
    assert not over, (b, over)
assert len(set(black)) == len(black)
tracks = {}
for e in events:
    if e["ph"] == "X":
        tracks.setdefault((e["pid"], e["tid"]), []).append((e["ts"], e["ts"] + e["dur"]))
for track, pieces in tracks.items():
    pieces.sort()
    assert all(a[1] <= b[0] + 1e-6 for a, b in zip(pieces, pieces[1:])), (track, pieces[:4])
END
  done
done

# Short chunks of one job that follow one another are one bar.
sed 's/^gpus.*/&\nkernel_chunk = 1\ntransfer_chunk = 4KiB/; s/^period/gpu_chunk = 100us\n&/' three.conf >chunks.conf
if gpusparc check chunks.conf >/dev/null 2>&1; then
  gpusparc analyze chunks.conf --timeline chunks.svg --until 400ms >/dev/null || true
  [ "$(grep -c '<rect' chunks.svg)" -lt $((3 * $(grep -c '<rect' x.svg))) ] || fail "a bar for each chunk: $(grep -c '<rect' chunks.svg)"
fi

# Formats by suffix.
timeline x.json
python3 "$GS_SOURCE/tests/e2e/nesting.py" x.json
python3 -c 'import json; json.load(open("x.json"))["traceEvents"]' || fail "no trace"
if command -v rsvg-convert >/dev/null; then
  timeline x.png
  timeline x.pdf
  gpusparc simulate --sets 500 --plot s.png >/dev/null
  [ "$(head -c 8 x.png | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ] || fail "x.png is no PNG"
  [ "$(head -c 4 x.pdf)" = %PDF ] || fail "x.pdf is no PDF"
  [ "$(head -c 4 s.png | od -An -tx1 | tr -d ' \n')" = 89504e47 ] || fail "s.png is no PNG"
else
  echo "left out, PNG and PDF: rsvg-convert isn't installed"
fi
refuses 'must end in .svg, .png or .pdf' gpusparc analyze three.conf --timeline x.jpg
refuses 'must end in .svg, .png or .pdf' gpusparc simulate --sets 1000000000 --plot x.jpg
mkdir bin
ln -s "$(command -v gpusparc)" bin/gpusparc
refuses 'rsvg-convert, which isn.t installed' env PATH="$PWD/bin" "$PWD/bin/gpusparc" analyze three.conf --timeline y.png
[ ! -e y.png ] && [ ! -e x.jpg ] || fail "a picture that was refused is there"

# A limit, at once, and what would do.
refuses 'more than the 20000 pieces .*: --until [0-9]+s or less$' timeout 20 gpusparc analyze three.conf --timeline large.svg --until 1000000s
refuses 'more than the 500000 pieces .*: --until [0-9]+s or less$' timeout 20 gpusparc analyze three.conf --timeline large.json --until 1000000s
[ ! -e large.svg ] && [ ! -e large.json ] || fail "a picture that is too large is there"
enough=$(grep -o 'until [0-9]*s or less' <(gpusparc analyze three.conf --timeline y.svg --until 1000000s 2>&1) | cut -d' ' -f2)
timeline fits.svg --until "$enough"
[ -s fits.svg ] && [ "$(wc -c <fits.svg)" -lt 20000000 ] || fail "what is said to fit doesn't"

# Curves that coincide are told apart, and lie within the frame.
gpusparc simulate --sets 2000 --plot s.svg >/dev/null
grep -q '(as ' s.svg || fail "no curve of s.svg is said to be as another"
grep -q '>total GPU utilization (GPUs)<' s.svg && grep -q ">schedulable, % of global's<" s.svg || fail "axes without names"

# The report.
gpusparc analyze three.conf --html r.html --until 1s >/dev/null || [ $? -eq 1 ]
for said in '<!DOCTYPE html>' '<td>detector</td>' 'misses its deadline' '<svg' 'used, %'; do
  grep -q -- "$said" r.html || fail "the report lacks $said"
done
refuses 'must end in .html' gpusparc analyze three.conf --html r.txt
# Its times have five digits at most, and are those of the table.
grep -oE '>-?[0-9.]+(ns|us|ms|s)</td>' r.html | grep -E '[0-9]\.?([0-9]\.?){5,}[num]?s' && fail "the report has times of six digits or more"
for time in $(awk '$1 == "detector" { print $5, $6, $7 }' <(gpusparc analyze three.conf || true)); do
  grep -q ">$time</td>" r.html || fail "the report lacks $time, which the table has"
done
gpusparc analyze three.conf --html large.html --until 1000000s >/dev/null || [ $? -eq 1 ]
grep -q 'There is no picture: .*--until' large.html && grep -q '<td>detector</td>' large.html || fail "a report without picture"
