# SPDX-License-Identifier: MIT
# bash's completion of gpusparc (room: cli/): the commands and options are those that its --help names.

# The options of command $1, one a line; of those with a value in a word of its own, "--name value".
_gpusparc_options() {
  local help
  help=$("${COMP_WORDS[0]}" "$1" --help 2>/dev/null)
  {
    grep -oE -- '\[--[a-z-]+( [^] ]+)?' <<<"$help" | tr -d '['
    sed -nE 's/^  (--.*)/\1/p' <<<"$help" | sed -E 's/  .*//; s/,? --/\n--/g; s/\[?=[^,]*//g'
    echo --help
  } | sed -E 's/ .*/ value/' | sort -u
}

_gpusparc() {
  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} options i
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "$("${COMP_WORDS[0]}" --help 2>/dev/null | sed -nE 's/^  ([a-z]+) .*/\1/p') --help --version" -- "$word"))
    return
  fi
  options=$(_gpusparc_options "$command")
  if [[ $command == run || $command == profile ]]; then # from the application on, the words are its own
    for ((i = 2; i < COMP_CWORD || (i == COMP_CWORD && ${#word} > 0); i++)); do
      [[ ${COMP_WORDS[i]} != -- ]] || { ((i++)); break; }
      [[ ${COMP_WORDS[i]} == -* ]] || break
      ! grep -qxF -- "${COMP_WORDS[i]} value" <<<"$options" || ((i++))
    done
    if ((i <= COMP_CWORD)) && [[ $word != -* || $i -lt $COMP_CWORD ]]; then
      ! declare -F _command_offset >/dev/null || _command_offset "$i"
      return
    fi
  fi
  [[ $word != -* ]] || COMPREPLY=($(compgen -W "$(sed 's/ value$//' <<<"$options")" -- "$word"))
}
complete -o default -F _gpusparc gpusparc
