# Completion of iftallyd(8) for fish.

complete -c iftallyd -f
complete -c iftallyd -s c -l config -r -F -d 'Read this file instead of /etc/iftally/iftally.conf'
complete -c iftallyd -l check-config -d 'Say what is wrong with the configuration'
complete -c iftallyd -s V -l version -d 'Print the version'
complete -c iftallyd -s h -l help -d 'Print a summary of the options'
