#compdef gpusparc
# SPDX-License-Identifier: MIT
# zsh's completion of gpusparc (room: cli/): gpusparc itself says what the words may become.
_gpusparc() {
  local said=$("${words[1]}" --complete "${(@)words[2,CURRENT]}" 2>/dev/null) line word about
  local -a found
  case $said in
  (:files*) _files; return ;;
  (:app*)
    local at=$((${said#:app } + 2))
    if ((CURRENT == at)); then
      _command_names -e || _files
    else
      shift $((at - 1)) words
      ((CURRENT -= at - 1))
      _normal
    fi
    return
    ;;
  esac
  for line in "${(@f)said}"; do
    word=${line%%$'\t'*} about=${line##*$'\t'}
    [[ -z $word ]] || found+=("${word//:/\\:}${about:+:$about}")
  done
  if [[ ${found[1]-} == *= ]]; then
    _describe 'gpusparc' found -S ''
  else
    _describe 'gpusparc' found
  fi
}
_gpusparc "$@"
