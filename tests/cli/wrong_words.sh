#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A word on the command line that is wrong: what is wrong with it, in one line, and which one was probably meant.
set -euo pipefail
source "$GS_SOURCE/tests/cli/common.sh"
says "there is no command 'runn'; did you mean run?" runn
says "there is no command 'statsu'; did you mean status?" statsu
says "there is no command 'frobnicate'; see" frobnicate
says "there is no option '--gsup'; did you mean --gpus?" run --gsup 2 true
says "there is no option '--mdoe'; did you mean --mode?" run --mdoe auto true
says "there is no option '--jsn'; did you mean --json?" check --jsn x.conf
says "there is no option '--plicy'; did you mean --policy?" analyze --plicy gema x.conf
says "there is no option '--jzon'; did you mean --json?" probe order --jzon
says "there is no option '--frobnicate'; see" devices --frobnicate
says "--json takes no value" status --json=3
says "--socket needs a value" status --socket
says "--socket needs a value" top --sock
says "--gpus needs a value" run --gpus
says "there is no option '-j'" status -j
says "there is no option '-x'" status --json -xj
# What completion knows of each command is suggested for the same word without its second letter.
for c in $(gpusparc --help | awk '/^  [a-z]/ { print $1 }'); do
  [ "$c" != probe ] || continue
  for o in $(gpusparc "$c" --help | grep -oE '^  --[a-z-]{7,}' | tr -d ' '); do
    said=$(gpusparc "$c" "${o:0:3}${o:4}" 2>&1 </dev/null) || true
    grep -q -- "did you mean --" <<<"$said" || complain "gpusparc $c ${o:0:3}${o:4} says: $said"
  done
done
# A variable that nothing reads; all that are read are known.
said=$(GPUSPARC_GPU=2 GPUSPARC_COLOUR=red GPUSPARC_MODE=auto gpusparc cache 2>&1 >/dev/null)
[ "$said" = "gpusparc: warning: nothing reads the variable GPUSPARC_GPU; did you mean GPUSPARC_GPUS?
gpusparc: warning: nothing reads the variable GPUSPARC_COLOUR" ] || [ "$(sort <<<"$said" | head -n 1)" = "gpusparc: warning: nothing reads the variable GPUSPARC_COLOUR" ] ||
  complain "unknown variables: $said"
cd "$GS_SOURCE"
for v in $(grep -rhoE 'getenv\("GPUSPARC_[A-Z_]+"\)|"GPUSPARC_[A-Z_]+"' common shim cli scheduler translator --include=*.[ch] | grep -oE 'GPUSPARC_[A-Z_]*[A-Z]' | sort -u); do
  [ -z "$(env "$v=" gpusparc cache 2>&1 >/dev/null | grep "the variable $v")" ] || complain "$v is read, and called unknown"
done
[ "$(gpusparc -V)" = "$(gpusparc --version)" ] || complain "-V isn't --version"
[ "$(gpusparcd -V)" = "$(gpusparcd --version)" ] || complain "gpusparcd -V isn't --version"
exit $fail
