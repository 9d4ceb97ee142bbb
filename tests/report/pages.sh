#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The HTML reports of bench and analyze: they need no other file, and hold what the tables hold. Where Chromium is
# installed they are tried in it: tables sort, pictures are magnified, entries of a legend hide what they name.
set -euo pipefail
fail() { echo "FAILED: $*" >&2; exit 1; }
rm -rf ./*

alone() { # FILE: no address in it but the name of SVG's namespace
  sed 's,xmlns="http://www.w3.org/2000/svg",,g' "$1" | grep -nE 'https?:|src=|href=|@import|url\([^#]' && fail "$1 needs another file"
  grep -q '^<!DOCTYPE html>' "$1" && [ "$(tail -c 8 "$1")" = "</html>" ] || fail "$1 isn't whole"
}

cp -r "$GS_SOURCE/bench/results/table_v-cpu2" kept
gpusparc bench --output kept --report --html bench.html >/dev/null
alone bench.html
[ "$(grep -c '<td>multi2</td>' bench.html)" -gt 30 ] || fail "bench.html lacks samples"
gpusparc analyze "$GS_SOURCE/bench/results/rt-cpu2/gema.conf" --html analyze.html >/dev/null || [ $? -eq 1 ]
alone analyze.html
# The first thing below each title is what the page comes to; there is a dark and a narrow look.
for f in bench.html analyze.html; do
  python3 - $f <<'END' || fail "$f: $(grep -o '</h1>.*' $f | head -n 2)"
import re, sys
page = open(sys.argv[1]).read()
said = re.search(r'</h1>\s*<p class="conclusion">([^<]+)</p>', page)
assert said, "no conclusion"
wanted = {"bench.html": r"multi2 is \d\.\d\d times as fast as \w+ in the mean|Of no sample is it sure",
          "analyze.html": r"Every deadline is met\.|Not (schedulable|proven)"}[sys.argv[1]]
assert re.match(wanted, said[1].replace("&#39;", "'")), said[1]
assert "prefers-color-scheme:dark" in page and "max-width:700px" in page and 'name="viewport"' in page
END
done

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || { echo "left out, the page in a browser: there is none"; exit 0; }
try() { # PAGE SCRIPT: what it must say at its end
  { sed 's,</body></html>,,' "$1"; echo "<script>$2; document.title = 'TRIED';</script></body></html>"; } >tried.html
  timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/profile" --virtual-time-budget=2000 \
    --dump-dom "file://$PWD/tried.html" >dom.txt 2>browser.err || { echo "left out, the page in a browser: it doesn't run here"; exit 0; }
  grep -q '<title>TRIED</title>' dom.txt || fail "$1 in a browser: $(grep -o '<title>.*</title>' dom.txt)"
}
check='function check(what, ok) { if (!ok) { document.title = "WRONG: " + what; throw 0; } }
function click(e) { e.dispatchEvent(new MouseEvent("click", { bubbles: true })); }
function column(t, i) { return [...t.tBodies[0].rows].map(r => r.cells[i].dataset.v ?? r.cells[i].textContent); }
function sorted(v) { return v.every((x, i) => !i || Number(v[i - 1]) <= Number(x)); }
const box = v => v.getAttribute("viewBox").split(" ").map(Number);
function wheel(e) { const b = e.getBoundingClientRect(); e.dispatchEvent(new WheelEvent("wheel", { deltaY: -1, bubbles: true,
  cancelable: true, clientX: b.x + b.width / 2, clientY: b.y + b.height / 2 })); }'
try bench.html "$check"'
const t = [...document.querySelectorAll("table")].find(t => t.textContent.includes("verdict")), i = 10, heads = t.tHead.rows[0].cells;
check("head", heads[i].textContent == "speed-up");
click(heads[i]); check("up", sorted(column(t, i)));
click(heads[i]); check("down", sorted(column(t, i).reverse()) && column(t, i)[0] > 2);
click(heads[0]); check("names", column(t, 0)[0] == "aes");
const filter = document.querySelectorAll("input.filter"); check("filter", filter.length > 0);
const svg = document.querySelectorAll("svg.gs")[1], key = svg.querySelector(".key"), whole = box(svg);
wheel(svg); check("nearer", box(svg)[2] < whole[2]);
svg.dispatchEvent(new MouseEvent("dblclick")); check("all", box(svg).join() == whole.join());
click(key); check("hidden", svg.querySelector(".s0").style.display == "none");
click(key); check("shown", svg.querySelector(".s0").style.display == "")'
try analyze.html "$check"'
const svg = document.querySelector("svg.gs"), inner = svg.querySelector("svg.zoom"), whole = box(inner), outer = box(svg);
const ticks = svg.querySelector(".ticks").textContent;
for (let k = 0; k < 4; k++) wheel(inner);
const now = box(inner);
check("time alone", now[2] < whole[2] && now[3] == whole[3] && box(svg).join() == outer.join());
check("ticks", svg.querySelector(".ticks").textContent != ticks);
const end = Number(svg.querySelector(".ticks").dataset.end), texts = [...svg.querySelectorAll(".ticks text")].map(e => Number(e.textContent));
check("range", texts.length > 2 && texts[0] >= now[0] / whole[2] * end - 1e-6 && texts.at(-1) <= (now[0] + now[2]) / whole[2] * end + 1e-6);
click([...document.querySelectorAll("button")].find(b => b.textContent == "all")); check("reset", box(inner).join() == whole.join())'
