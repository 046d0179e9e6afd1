# Completion of iftallyd(8) for bash.

_iftallyd() {
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  # Readline takes --option=value for three words.
  if [ "$word" = = ]; then
    word=''
  elif [ "$previous" = = ]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  case $previous in
    -c | --config)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$word")
      ;;
    *) mapfile -t COMPREPLY < <(compgen -W '-c --config --check-config -V --version -h --help' -- "$word") ;;
  esac
}
complete -F _iftallyd iftallyd
