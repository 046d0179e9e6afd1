# Completion of iftally(1) for bash.

# The interfaces that the daemon knows; nothing where none answers. What the shell would read otherwise than as it is, as
# in $(reboot), is written %XX.
_iftally_interfaces() {
  command iftally interfaces --names --timeout 1 2>/dev/null
}

# The numbers of changes.
_iftally_changes() {
  command iftally changes --json --timeout 1 2>/dev/null | grep -oE '"id": *[0-9]+' | grep -oE '[0-9]+$'
}

_iftally() {
  local common='--json --socket --timeout --no-color -h --help'
  local units='--unit --decimals'
  local figures="$units --bits --bytes"
  local selection='-i --interface --kind --label'
  local bounds='--from --to'
  local span="$bounds -l --limit"
  local commands='live watch interfaces minutes fives hours days months years usage explain totals rules'
  commands="$commands rename merge forget changes undo status doctor backup restore version help"
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local command='' options='' words='' prefix='' i
  COMPREPLY=()

  # Readline takes --option=value for three words.
  if [ "$word" = = ]; then
    word=''
  elif [ "$previous" = = ]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      -i | --interface | --kind | --label | --from | --to | -l | --limit | -r | --resolution | -n | --count | \
        --interval | --unit | --decimals | --socket | --timeout | --directory | --on | \
        --exec-timeout)
        i=$((i + 1))
        [ "${COMP_WORDS[i]}" != = ] || i=$((i + 1))
        ;;
      -*) ;;
      *)
        command=${COMP_WORDS[i]}
        break
        ;;
    esac
  done

  case $previous in
    -i | --interface)
      case $word in *+*) prefix=${word%+*}+ word=${word##*+} ;; esac
      words=$(_iftally_interfaces)
      ;;
    --kind) words='wired wifi cellular tunnel bridge bond vlan virtual loopback other' ;;
    --from | --to) words='today yesterday this-week this-month last-month this-year all now' ;;
    -r | --resolution) words='minute five_minutes hour day month year' ;;
    --unit) words='iec si bytes' ;;
    --on) words='rates link reset gap problem' ;;
    --decimals) words='0 1 2 3' ;;
    --socket | --directory)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$word")
      return
      ;;
    --label | -l | --limit | -n | --count | --interval | --timeout | --exec-timeout) return ;;
    *)
      case $command in
        '') options="$selection -a --all $figures $common" ;;
        watch) options="--on --exec --exec-timeout -n --count --interval ${selection% --label} $figures $common" ;;
        live) options="-n --count --interval $selection $figures $common" ;;
        interfaces) options="-v --verbose --names $selection $figures $common" ;;
        minutes | fives | hours | days | months | years) options="$span $selection $figures $common" ;;
        usage) options="-r --resolution $span $selection $figures $common" ;;
        explain) options="--label --today --yesterday --month --year $bounds -r --resolution $figures $common" ;;
        totals) options="$bounds $figures $common" ;;
        rules | status) options="-v --verbose $common" ;;
        forget) options="-y --yes $common" ;;
        backup) options="-f --force $units $common" ;;
        restore) options="--directory $units $common" ;;
        rename | merge | changes | undo | doctor | version | help) options=$common ;;
      esac
      case $word,$command in
        -*,*) words=$options ;;
        *, | *,help) words=$commands ;;
        *,explain | *,rename | *,merge | *,forget) words=$(_iftally_interfaces) ;;
        *,undo) words=$(_iftally_changes) ;;
        *,backup | *,restore)
          compopt -o filenames 2>/dev/null
          mapfile -t COMPREPLY < <(compgen -f -- "$word")
          return
          ;;
      esac
      ;;
  esac
  mapfile -t COMPREPLY < <(compgen -P "$prefix" -W "$words" -- "$word")
}
complete -F _iftally iftally
