# Completion of wakebridge for bash. Names of handlers and devices are asked of the daemon, and left out if it is silent.

_wakebridge_ask() {
    wakebridge "${_wakebridge_where[@]}" "$1" --json 2>/dev/null | grep -o "\"$2\":\"[^\"]*\"" | cut -d'"' -f4
}

_wakebridge() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
    local verbs="scan pair forget devices inspect read write wait replay import export record run watch status top handlers start stop restart session reload attach simulate dead-letters why logs doctor report udev-rules help"
    local daemon="--socket --runtime --json --help" verb="" index options="" words=""
    local -a _wakebridge_where=()
    for ((index = 1; index < COMP_CWORD; index++)); do
        case ${COMP_WORDS[index]} in
            --) return ;;
            --socket|--runtime)
                _wakebridge_where=("${COMP_WORDS[index]}" "${COMP_WORDS[index+1]}")
                ((index++)) ;;
            -*) ;;
            *) [[ -z $verb ]] && verb=${COMP_WORDS[index]} ;;
        esac
    done
    case $previous in
        --socket|--manifest|--decisions|--output|--air|--replay|-m|-d|-o|-r) compopt -o default; return ;;
        --runtime|--root) compopt -o dirnames; return ;;
        --for) COMPREPLY=($(compgen -W "60s 5m 1h" -- "$current")); return ;;
        --speed|-s) COMPREPLY=($(compgen -W "1 2 10 max" -- "$current")); return ;;
        --level) COMPREPLY=($(compgen -W "low critical" -- "$current")); return ;;
        --handler) COMPREPLY=($(compgen -W "$(_wakebridge_ask handlers id)" -- "$current")); return ;;
        --device) COMPREPLY=($(compgen -W "$(_wakebridge_ask status alias)" -- "$current")); return ;;
        --user) COMPREPLY=($(compgen -u -- "$current")); return ;;
        --group|-g) COMPREPLY=($(compgen -g -- "$current")); return ;;
        --adapter|--alias|--as|--passkey|--lines|-n|--profile) return ;;
    esac
    case $verb in
        "") words=$verbs; options="--socket --runtime --help --version" ;;
        help) words=$verbs ;;
        scan) options="--profile --all --for --adapter --json --help" ;;
        pair) options="--alias --as --yes --passkey --no-bond --adapter $daemon" ;;
        forget) options="--adapter $daemon"; words=$(_wakebridge_ask devices alias) ;;
        devices|read) options=$daemon; words=$(_wakebridge_ask devices alias) ;;
        write) options="--text $daemon"; words=$(_wakebridge_ask devices alias) ;;
        inspect) options="--live $daemon"; words=$(_wakebridge_ask devices alias) ;;
        wait) options="--connected --disconnected --data --for $daemon"; words=$(_wakebridge_ask devices alias) ;;
        replay) options="--speed --manifest --decisions --user --json --help" ;;
        import) options="--output --partial --json --help" ;;
        export) options="--output --json --help" ;;
        record) options="--output --air --for $daemon"; words=$(_wakebridge_ask status alias) ;;
        run) options="--manifest --profile --device --replay --speed --user --json --help" ;;
        report) options="--output --logs $daemon" ;;
        status|top|reload) options=$daemon ;;
        doctor) options="--root $daemon" ;;
        udev-rules) options="--profile --group --braille --json --help" ;;
        watch) options=$daemon; words=$(_wakebridge_ask status alias) ;;
        handlers|start|restart|attach|why) options=$daemon; words=$(_wakebridge_ask handlers id) ;;
        stop) options="--keep-sessions $daemon"; words=$(_wakebridge_ask handlers id) ;;
        session)
            options=$daemon
            case $previous in
                session) words="open paused closed" ;;
                open|paused|closed) words=$(_wakebridge_ask status alias) ;;
            esac ;;
        logs) options="--follow --lines $daemon"; words=$(_wakebridge_ask handlers id) ;;
        simulate)
            options="--level $daemon"
            case $previous in
                simulate) words="wake expire memory kill disconnect sleep heat battery" ;;
                sleep|heat|battery) words="on off" ;;
                disconnect) words=$(_wakebridge_ask status alias) ;;
                wake|expire|kill) words=$(_wakebridge_ask handlers id) ;;
            esac ;;
        dead-letters)
            options="--handler --all $daemon"
            [[ $previous == dead-letters ]] && words="list replay drop" ;;
    esac
    if [[ $current == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$current"))
    else
        COMPREPLY=($(compgen -W "$words" -- "$current"))
        [[ $verb == replay || $verb == import || $verb == export ]] && compopt -o default
    fi
}

complete -F _wakebridge wakebridge
