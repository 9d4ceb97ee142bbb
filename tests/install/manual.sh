#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every command has a manual page, a line in the README and in gpusparc(1); every option of its --help is in its page.
set -euo pipefail
fail=0
complain() {
  echo "$*" >&2
  fail=1
}
pages=$GS_SOURCE/docs/man
commands=$(gpusparc --help | awk '/^  [a-z]/ { print $1 }')
[ "$(wc -w <<<"$commands")" -ge 10 ]
for c in $commands; do
  page=$pages/gpusparc-$c.1
  [ -f "$page" ] || { complain "gpusparc $c has no page"; continue; }
  grep -q "gpusparc\\\\-$c (1)" "$pages/gpusparc.1" || complain "gpusparc(1) doesn't name $c"
  grep -q "gpusparc $c" "$GS_SOURCE/README.md" || complain "the README doesn't name gpusparc $c"
  text=$(sed 's/\\-/-/g' "$page")
  for o in $(gpusparc "$c" --help | grep -oE -- '(^|[ ,[])--[a-z][a-z-]*' | grep -oE -- '--[a-z-]*' | sort -u); do
    grep -qF -- "$o" <<<"$text" || complain "gpusparc-$c(1) lacks $o"
  done
done
for page in "$pages"/gpusparc-*.1; do
  c=$(basename "$page" .1)
  grep -qw "${c#gpusparc-}" <<<"$commands" || complain "$c(1) is of no command"
done
exit $fail
