# SPDX-License-Identifier: MIT
# fish's completion of gpusparc (room: cli/): gpusparc itself says what the words may become.
function __gpusparc_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l said ($words[1] --complete $words[2..-1] 2>/dev/null)
    switch "$said[1]"
        case ':files*'
            __fish_complete_path (commandline -ct)
        case ':app*'
            set -l at (math (string replace ':app ' '' -- $said[1]) + 2)
            complete -C (string join ' ' -- $words[$at..-1])
        case '*'
            for line in $said
                set -l parts (string split \t -- $line)
                printf '%s\t%s\n' $parts[1] $parts[3]
            end
    end
end
complete -c gpusparc -f -a '(__gpusparc_complete)'
