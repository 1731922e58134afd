// The scripts that a shell loads: each passes the words to the tool, and shows what the tool returns.

enum CompletionScript: String, CaseIterable {
    case bash
    case zsh
    case fish

    var text: String {
        switch self {
        case .bash: Self.bashText
        case .zsh: Self.zshText
        case .fish: Self.fishText
        }
    }

    /// Bash splits words at ':' and '='; bash-completion, where it is loaded, undoes that.
    private static let bashText = #"""
        # Completion of wakebridge for bash, as 'wakebridge completion bash' prints it. The tool says what fits.

        _wakebridge() {
            local cur=${COMP_WORDS[COMP_CWORD]} cword=$COMP_CWORD line word
            local -a words=("${COMP_WORDS[@]}")
            declare -F _get_comp_words_by_ref >/dev/null && _get_comp_words_by_ref -n =: cur words cword
            COMPREPLY=()
            while IFS= read -r line; do
                case $line in
                    :files) compopt -o default ;;
                    :directories) compopt -o dirnames ;;
                    :users) mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -u -- "$cur") ;;
                    :groups) mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -g -- "$cur") ;;
                    *)
                        printf -v word %q "${line%%$'\t'*}"
                        COMPREPLY+=("$word") ;;
                esac
            done < <(wakebridge completion offer -- "${words[@]:1:cword}" 2>/dev/null)
            declare -F __ltrim_colon_completions >/dev/null && __ltrim_colon_completions "$cur"
            return 0
        }

        complete -F _wakebridge wakebridge

        """#

    private static let zshText = #"""
        #compdef wakebridge
        # Completion of wakebridge for zsh, as 'wakebridge completion zsh' prints it. The tool says what fits.

        _wakebridge() {
            local line
            local -a found
            for line in ${(f)"$(wakebridge completion offer -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)"}; do
                case $line in
                    :files) _files ;;
                    :directories) _files -/ ;;
                    :users) _users ;;
                    :groups) _groups ;;
                    *) found+=("${${line//:/\\:}/$'\t'/:}") ;;
                esac
            done
            (( $#found )) && _describe wakebridge found
        }

        if [[ $funcstack[1] == _wakebridge ]]; then _wakebridge "$@"; else compdef _wakebridge wakebridge; fi

        """#

    private static let fishText = #"""
        # Completion of wakebridge for fish, as 'wakebridge completion fish' prints it. The tool says what fits.

        function __wakebridge_offer
            set -l words (commandline -opc)
            set -l current (commandline -ct)
            for line in (wakebridge completion offer -- $words[2..-1] "$current" 2>/dev/null)
                switch $line
                    case :files
                        __fish_complete_path "$current"
                    case :directories
                        __fish_complete_directories "$current"
                    case :users
                        __fish_complete_users
                    case :groups
                        __fish_complete_groups
                    case '*'
                        echo $line
                end
            end
        end

        complete -c wakebridge -f -a '(__wakebridge_offer)'

        """#
}
