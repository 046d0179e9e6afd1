# Completion of iftally(1) for fish.

# The interfaces that the daemon knows, after what is already joined with plus signs; nothing where none answers.
function __iftally_interfaces
    set -l joined (string match -r '^(?:--interface=|-i)?(.*\+)' -- (commandline -ct))[2]
    for name in (command iftally interfaces --names --timeout 1 2>/dev/null)
        echo -- "$joined$name"
    end
end

# The numbers of changes.
function __iftally_changes
    command iftally changes --json --timeout 1 2>/dev/null | string match -ra '"id": *[0-9]+' |
        string match -r '[0-9]+$'
end

# Whether the command on the line so far is one of these; "summary" stands for none.
function __iftally_in
    set -l tokens (commandline -opc)
    set -e tokens[1]
    set -l is_value no
    for token in $tokens
        if test $is_value = yes
            set is_value no
            continue
        end
        switch $token
            case -i --interface --kind --label --from --to -l --limit -r --resolution -n --count \
                --interval --unit --decimals --socket --timeout --directory --on --exec-timeout
                set is_value yes
            case '-*'
            case '*'
                contains -- $token $argv
                return
        end
    end
    contains summary $argv
end

set -l tables minutes fives hours days months years usage
set -l traffic summary live watch interfaces $tables
set -l spans $tables explain totals
set -l times 'today yesterday this-week this-month last-month this-year all now'

complete -c iftally -f
complete -c iftally -n '__iftally_in summary help' -a live -d 'Rates each second'
complete -c iftally -n '__iftally_in summary help' -a watch -d 'Follow what happens, run a program for it'
complete -c iftally -n '__iftally_in summary help' -a interfaces -d 'What is known of each interface'
complete -c iftally -n '__iftally_in summary help' -a minutes -d 'The last hour by minute'
complete -c iftally -n '__iftally_in summary help' -a fives -d 'The last five hours by five minutes'
complete -c iftally -n '__iftally_in summary help' -a hours -d 'The last 24 hours'
complete -c iftally -n '__iftally_in summary help' -a days -d 'The last 30 days'
complete -c iftally -n '__iftally_in summary help' -a months -d 'The last 12 months'
complete -c iftally -n '__iftally_in summary help' -a years -d 'All years'
complete -c iftally -n '__iftally_in summary help' -a usage -d 'Any span by any period'
complete -c iftally -n '__iftally_in summary help' -a explain -d 'What a figure is made of'
complete -c iftally -n '__iftally_in summary help' -a totals -d 'The machine as a whole, each byte once'
complete -c iftally -n '__iftally_in summary help' -a rules -d 'What links are called and counted as'
complete -c iftally -n '__iftally_in summary help' -a rename -d 'Give an interface a title'
complete -c iftally -n '__iftally_in summary help' -a merge -d 'Show the history of an interface with another'
complete -c iftally -n '__iftally_in summary help' -a forget -d 'Hide the history of an interface'
complete -c iftally -n '__iftally_in summary help' -a changes -d 'What was renamed, merged, forgotten'
complete -c iftally -n '__iftally_in summary help' -a undo -d 'Take a change back'
complete -c iftally -n '__iftally_in summary help' -a status -d 'How the daemon is'
complete -c iftally -n '__iftally_in summary help' -a doctor -d 'Examine socket, daemon and numbers'
complete -c iftally -n '__iftally_in summary help' -a backup -d 'Write the whole history to a file'
complete -c iftally -n '__iftally_in summary help' -a restore -d 'Put a backup in the place of the store'
complete -c iftally -n '__iftally_in summary help' -a version -d 'The version of this command'
complete -c iftally -n '__iftally_in summary help' -a help -d 'Describe the commands, or one of them'

complete -c iftally -n "__iftally_in $traffic" -s i -l interface -x -a '(__iftally_interfaces)' -d 'Only this one'
complete -c iftally -n "__iftally_in $traffic" -l kind -x -d 'Only this kind' \
    -a 'wired wifi cellular tunnel bridge bond vlan virtual loopback other'
complete -c iftally -n "__iftally_in summary live interfaces explain $tables" -l label -x -d 'Only what rules call so'
complete -c iftally -n '__iftally_in summary' -s a -l all -d 'Interfaces that are gone too'
complete -c iftally -n "__iftally_in $spans" -l from -x -a $times -d Start
complete -c iftally -n "__iftally_in $spans" -l to -x -a $times -d End
complete -c iftally -n "__iftally_in $tables" -s l -l limit -x -d 'At most the last so many periods'
complete -c iftally -n '__iftally_in usage explain' -s r -l resolution -x -a 'minute five_minutes hour day month year' -d Period
complete -c iftally -n '__iftally_in explain rename merge forget' -a '(__iftally_interfaces)'
complete -c iftally -n '__iftally_in undo' -a '(__iftally_changes)'
complete -c iftally -n '__iftally_in forget' -s y -l yes -d 'Ask for no confirmation'
complete -c iftally -n '__iftally_in explain' -l today -d Today
complete -c iftally -n '__iftally_in explain' -l yesterday -d Yesterday
complete -c iftally -n '__iftally_in explain' -l month -d 'This month'
complete -c iftally -n '__iftally_in explain' -l year -d 'This year'
complete -c iftally -n '__iftally_in live watch' -s n -l count -x -d 'Stop after so many readings or events'
complete -c iftally -n '__iftally_in live watch' -l interval -x -d 'Seconds between readings'
complete -c iftally -n '__iftally_in watch' -l on -x -a 'rates link reset gap problem' -d 'Which events, a,b'
complete -c iftally -n '__iftally_in watch' -l exec-timeout -x -d 'End it after so many seconds'
complete -c iftally -n '__iftally_in watch' -l exec -d 'Run what follows -- for each'
complete -c iftally -n '__iftally_in interfaces rules status' -s v -l verbose -d 'Everything that is known'
complete -c iftally -n '__iftally_in interfaces' -l names -d 'Names alone, as any shell takes them'
complete -c iftally -n '__iftally_in backup restore' -F
complete -c iftally -n '__iftally_in backup' -s f -l force -d 'Replace a file that is there'
complete -c iftally -n '__iftally_in restore' -l directory -r -F -d 'Folder of the store'
complete -c iftally -n "__iftally_in $traffic explain totals backup restore" -l unit -x -a 'iec si bytes' -d 'Unit of amounts'
complete -c iftally -n "__iftally_in $traffic explain totals backup restore" -l decimals -x -a '0 1 2 3' -d 'Digits after the point'
complete -c iftally -n "__iftally_in $traffic explain totals" -l bits -d 'Rates in bit/s'
complete -c iftally -n "__iftally_in $traffic explain totals" -l bytes -d 'Rates in bytes a second'
complete -c iftally -l json -d 'Print the reply as JSON'
complete -c iftally -l socket -r -F -d 'Socket of the daemon'
complete -c iftally -l timeout -x -d 'Seconds for an answer, 0.1 to 600'
complete -c iftally -l no-color -d 'No colour on a terminal either'
complete -c iftally -s h -l help -d 'Describe the command and its options'
