#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every command has a manual page, a line in the README and in gpusparc(1); every option of its --help is in its page, and
# the other way round, is completed, and is accepted; one that there is not is refused in one line that names it. Help is had
# wherever it is asked for, and a standard output that can't be written is said.
set -euo pipefail
fail=0
complain() {
  echo "$*" >&2
  fail=1
}
pages=$GS_SOURCE/docs/man
source "$GS_SOURCE/cli/gpusparc.bash"
complete() { # WORDS: what the last one may become
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  _gpusparc
  printf '%s\n' "${COMPREPLY[@]}"
}
commands=$(gpusparc --help | awk '/^  [a-z]/ { print $1 }')
[ "$(wc -w <<<"$commands")" -ge 10 ]
for c in $commands; do
  page=$pages/gpusparc-$c.1
  [ -f "$page" ] || { complain "gpusparc $c has no page"; continue; }
  [ "$(gpusparc help "$c")" = "$(gpusparc "$c" --help)" ] || complain "gpusparc help $c is another than its --help"
  rc=0
  said=$(gpusparc "$c" --help 2>&1 >/dev/full) || rc=$?
  [[ $rc = 1 && $said == *"can't write to standard output"* ]] || complain "gpusparc $c --help >/dev/full: exit status $rc, $said"
  grep -q "gpusparc\\\\-$c (1)" "$pages/gpusparc.1" || complain "gpusparc(1) doesn't name $c"
  grep -q "gpusparc $c" "$GS_SOURCE/README.md" || complain "the README doesn't name gpusparc $c"
  text=$(sed 's/\\-/-/g' "$page")
  for o in $(gpusparc "$c" --help | grep -oE -- '(^|[ ,[])--[a-z][a-z-]*' | grep -oE -- '--[a-z-]*' | sort -u); do
    [[ $text == *"$o"* ]] || complain "gpusparc-$c(1) lacks $o"
  done
  help=$(gpusparc "$c" --help)
  for o in $(sed '/^\.SH EXAMPLES/,/^\.SH SEE/d' <<<"$text" | grep -oE -- '(^|[^a-z-])--[a-z][a-z-]*' | grep -oE -- '--[a-z-]*' | sort -u); do
    [[ $help == *"$o"* ]] || complain "gpusparc $c --help lacks $o of its page"
  done
  grep -qE "gpusparc\\\\-$c \(1\)" <(sed -n '/^\.SH SEE/,$p' "$pages/gpusparc.1") || complain "gpusparc(1) doesn't lead to $c"
  said=$(complete gpusparc "$c" --)
  for o in $(gpusparc "$c" --help | grep -oE -- '^  --[a-z-]+' | tr -d ' '); do
    [[ $'\n'$said$'\n' == *$'\n'"$o"$'\n'* ]] || complain "gpusparc $c $o isn't completed"
  done
  # Each that completion knows is one of the program's: what is refused is the next one, or its value.
  while read -r o value; do
    [ "$c" != probe ] || break # which option goes with which of its kinds, tests/probes/cli.sh knows
    said=$(timeout 10 gpusparc "$c" "$o" ${value:+no-value} --no-such-option 2>&1 </dev/null) || true
    [[ $said == *no-such-option* || $said == *no-value* ]] || complain "gpusparc $c doesn't know its $o: $said"
  done < <(gpusparc --complete "$c" -- | grep -v -- --help | cut -f 1,2)
  arguments=("$c")
  [ "$c" != probe ] || arguments=(probe order)
  rc=0
  said=$(gpusparc "${arguments[@]}" --no-such-option 2>&1 >/dev/null) || rc=$?
  [ "$rc" = "$([ "$c" = run ] && echo 125 || echo 2)" ] || complain "gpusparc $c --no-such-option: exit status $rc"
  [[ $said == gpusparc*": "*"--no-such-option"* && $(wc -l <<<"$said") = 1 ]] || complain "gpusparc $c --no-such-option says: $said"
done
# No name is broken at the end of a line, however wide the terminal is.
if command -v nroff >/dev/null; then
  for width in 60 72 80 100; do
    broken=$(nroff -man -rLL=${width}n "$pages"/* 2>/dev/null | sed 's/\x1b\[[0-9;]*m//g; s/.\x08//g' | grep -E '[a-z](-|‐|−)$') || continue
    complain "$width columns: $broken"
  done
else
  echo "left out, ends of lines: nroff isn't installed"
fi
# gpusparc(7) has every variable that the code reads, and no others; gpusparc.conf(5) every key of common/config.c.
used=$(grep -rhoE '"GPUSPARC_[A-Z_]+"' "$GS_SOURCE"/{common,translator,shim,gema,scheduler,cli} --include='*.[ch]' | tr -d '"' | sort -u)
[ "$(wc -l <<<"$used")" -ge 20 ] || complain "the code's variables: $used"
named=$(grep -oE 'GPUSPARC_[A-Z_]+' "$pages/gpusparc.7" | sort -u)
[ "$used" = "$named" ] || complain "gpusparc(7) and the code differ: $(diff <(echo "$used") <(echo "$named"))"
keys() { sed -n "/_keys\[\] = {/,/NULL, COUNT/s/^ *{\"\([a-z_]*\)\".*/\1/p" "$GS_SOURCE/common/config.c" | sort -u; }
[ "$(keys | wc -l)" -ge 25 ] || complain "the config's keys: $(keys)"
for k in $(keys); do
  grep -qE "^\.BR? ([a-z_]+ \", \" )*$k( |\$)" "$pages/gpusparc.conf.5" || complain "gpusparc.conf(5) lacks $k"
done
for k in $(grep -A1 '^\.TP' "$pages/gpusparc.conf.5" | sed -n 's/^\.BR\? //p' | tr -d '",'); do
  keys | grep -qx "$k" || complain "gpusparc.conf(5) has the key $k, which there is not"
done
# The daemon's page: its options, and no others.
[ "$(gpusparcd --help | grep -oE '^  --[a-z]+' | tr -d ' ' | sort)" = "$(grep -oE '^\.B \\-\\-[a-z]+' "$pages/gpusparcd.8" | sed 's/\.B //;s/\\-/-/g' | grep -v help | sort)" ] ||
  complain "gpusparcd(8) and gpusparcd --help differ"
# The example that is installed has no mistakes, and meets its deadlines.
gpusparc check --json "$GS_SOURCE/docs/gpusparc.conf" >example.json || complain "docs/gpusparc.conf: $(cat example.json)"
grep -q '"tasks": 3' example.json && grep -q '"warnings": \[\]' example.json || complain "docs/gpusparc.conf: $(cat example.json)"
gpusparc analyze "$GS_SOURCE/docs/gpusparc.conf" >example.txt || complain "docs/gpusparc.conf: $(cat example.txt)"
# The config that gpusparc-check(1) gives as an example has no mistakes, and meets its deadlines.
sed -n '/^    \[system\]/,/^\.fi/s/^    //p' "$pages/gpusparc-check.1" >example.conf
gpusparc check --json example.conf >example.json || complain "the example of gpusparc-check(1): $(cat example.json)"
grep -q '"tasks": 3' example.json && grep -q '"warnings": \[\]' example.json || complain "the example of gpusparc-check(1): $(cat example.json)"
gpusparc analyze example.conf >example.txt || complain "the example of gpusparc-check(1): $(cat example.txt)"
# Values, in whatever shell: what gpusparc --complete says.
offers() { # WANTED WORDS...: among what the last word may become
  local wanted=$1
  shift
  gpusparc --complete "$@" | cut -f 1 | grep -qxF -- "$wanted" || complain "gpusparc $*: $wanted isn't offered but: $(gpusparc --complete "$@")"
}
offers multi run --mode ''
offers single run --mode s
offers --mode=single run --mode=s
offers --pace=task run --pace=
offers --policy=gema+ analyze --policy=g
offers --base=plain bench --base=
! gpusparc --complete run --mode=s | grep -q auto || complain "run --mode=s offers auto"
! gpusparc --complete run --mode s | grep -q auto || complain "run --mode s offers auto"
offers all run --gpus ''
offers cpu:2 run --gpus 2 --devices c
offers reorder run --allow ''
offers race run --allow ''
offers gema+ analyze --policy ''
offers gang simulate --pieces ''
offers plain bench --base ''
offers matmul bench --gpus 2 mat
offers latency probe ''
offers atomic probe order --by ''
offers two-level timing --scheduler ''
offers period= set some p
offers status stat
offers ':files' check ''
offers ':files' run --trace ''
offers ':app 3' run --gpus 2 ./ap
offers ':app 4' profile --task x -- ./app --tr
[ "$(complete gpusparc run --mode=si)" = single ] || complain "run --mode=si isn't completed: $(complete gpusparc run --mode=si)"
# fish and zsh, where they are installed.
if command -v fish >/dev/null; then
  fished() { HOME=$PWD fish --no-config -c "source '$GS_SOURCE/cli/gpusparc.fish'; complete -C '$1'" | cut -f 1; }
  [ "$(fished 'gpusparc analyze --policy glo')" = global ] || complain "fish: analyze --policy glo: $(fished 'gpusparc analyze --policy glo')"
  [ "$(fished 'gpusparc run --mode=mu')" = --mode=multi ] || complain "fish: run --mode=mu: $(fished 'gpusparc run --mode=mu')"
  [ "$(fished 'gpusparc bench matm')" = matmul ] || complain "fish: bench matm: $(fished 'gpusparc bench matm')"
else
  echo "left out: fish isn't installed"
fi
if command -v zsh >/dev/null; then
  mkdir -p zsh && cp "$GS_SOURCE/cli/gpusparc.zsh" zsh/_gpusparc
  zsh -f "$GS_SOURCE/tests/install/zsh.zsh" "$PWD/zsh" >zsh.txt 2>&1 </dev/null || complain "zsh: $(cat zsh.txt)"
else
  echo "left out: zsh isn't installed"
fi
[ "$(complete gpusparc ana)" = analyze ] || complain "ana isn't completed: $(complete gpusparc ana)"
[ "$(complete gpusparc run --gpus 2 --tr)" = --trace ] || complain "run --tr isn't completed"
[ -z "$(complete gpusparc run --gpus 2 --stats ./app --tr)" ] || complain "an application's option is completed as one of run's"
[ "$(gpusparc run --gpus 2 --help)" = "$(gpusparc run --help)" ] || complain "run --gpus 2 --help"
[ "$(gpusparc analyze some.conf --help)" = "$(gpusparc analyze --help)" ] || complain "analyze some.conf --help"
[ "$(gpusparc profile --task x --help)" = "$(gpusparc profile --help)" ] || complain "profile --task x --help"
[ "$(gpusparc run sh -c 'echo "$1"' sh --help)" = --help ] || complain "run app --help is the application's"
for script in "$GS_SOURCE"/bench/*.sh "$GS_SOURCE"/scripts/*.sh; do
  said=$(timeout 5 bash "$script" --help </dev/null) && [ "$(wc -w <<<"$said")" -ge 8 ] || complain "$script --help says: $said"
done
for page in "$pages"/gpusparc-*.1; do
  c=$(basename "$page" .1)
  grep -qw "${c#gpusparc-}" <<<"$commands" || complain "$c(1) is of no command"
done
exit $fail
