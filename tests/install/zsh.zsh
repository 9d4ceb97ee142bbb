# SPDX-License-Identifier: MIT
# What zsh makes of the tab key, in a terminal of its own: zsh.zsh FOLDER, in which _gpusparc lies.
zmodload zsh/zpty
zpty -b shell env TERM=dumb zsh -f -i
seen=
# What the shell writes is read until it has the pattern; a status of 1 after a minute.
await() {
  local out end=$((SECONDS + 60))
  while [[ $seen != *$~1* ]]; do
    ((SECONDS < end)) || return 1
    if zpty -r -t shell out; then seen+=$out; else sleep 0.05; fi
  done
}
zpty -w shell "PS1=; unsetopt zle_bracketed_paste; fpath=($1 \$fpath); autoload -U compinit; compinit -u -D; echo rea''dy"
await ready || { print "zsh isn't ready: ${(V)seen}"; exit 1; }
try() { # LINE WORD: the tab key completes the line's last word to WORD
  seen=
  zpty -w -n shell $'\x15'"$1"$'\t'
  await "${1% *} $2" || { print "$1: ${(V)seen}"; exit 1; }
}
try 'gpusparc analyze --policy glo' global
try 'gpusparc run --mode=mu' --mode=multi
try 'gpusparc run --gpu' --gpus
try 'gpusparc stat' status
