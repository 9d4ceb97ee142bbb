#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every command has a manual page, a line in the README and in gpusparc(1); every option of its --help is in its page, and
# the other way round; one that there is not is refused in one line that names it.
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
  help=$(gpusparc "$c" --help)
  for o in $(sed '/^\.SH EXAMPLES/,/^\.SH SEE/d' <<<"$text" | grep -oE -- '(^|[^a-z-])--[a-z][a-z-]*' | grep -oE -- '--[a-z-]*' | sort -u); do
    grep -qF -- "$o" <<<"$help" || complain "gpusparc $c --help lacks $o of its page"
  done
  [ "$c" != check ] || continue # it has none
  arguments=("$c")
  [ "$c" != probe ] || arguments=(probe order)
  rc=0
  said=$(gpusparc "${arguments[@]}" --no-such-option 2>&1 >/dev/null) || rc=$?
  [ "$rc" = "$([ "$c" = run ] && echo 125 || echo 2)" ] || complain "gpusparc $c --no-such-option: exit status $rc"
  [[ $said == gpusparc*": "*"--no-such-option"* && $(wc -l <<<"$said") = 1 ]] || complain "gpusparc $c --no-such-option says: $said"
done
for page in "$pages"/gpusparc-*.1; do
  c=$(basename "$page" .1)
  grep -qw "${c#gpusparc-}" <<<"$commands" || complain "$c(1) is of no command"
done
exit $fail
