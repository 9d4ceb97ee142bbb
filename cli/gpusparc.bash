# SPDX-License-Identifier: MIT
# bash's completion of gpusparc (room: cli/): gpusparc itself says what the words may become.
_gpusparc() {
  local words=("${COMP_WORDS[@]:1:COMP_CWORD}") line=${COMP_LINE-} word said cut
  line=${line:0:${COMP_POINT:-0}}
  # bash makes three words of cpu:2 and of period=5ms, which are one to gpusparc.
  if [[ $line == *[:=]* ]]; then
    read -ra words <<<"$line"
    [[ $line != *[[:space:]] ]] || words+=("")
    words=("${words[@]:1}")
  fi
  word=${words[${#words[@]}-1]}
  COMPREPLY=()
  said=$("${COMP_WORDS[0]}" --complete "${words[@]}" 2>/dev/null)
  case $said in
  :files*) return ;;
  :app*)
    ! declare -F _command_offset >/dev/null || _command_offset $((${said#:app } + 1))
    return
    ;;
  esac
  cut=${word%"${word##*[:=]}"} # what bash takes for words of their own
  while IFS= read -r line; do
    [[ -z $line ]] || { line=${line%%$'\t'*}; COMPREPLY+=("${line#"$cut"}"); }
  done <<<"$said"
  [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null
}
complete -o default -F _gpusparc gpusparc
