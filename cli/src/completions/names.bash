
# Names of jobs and workers, as the cluster has them.
_howdah_names() {
    local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" what="" value i
    local -a where=()
    case "${COMP_WORDS[1]-}" in
        job | jobs) [[ " JOB_COMMANDS " == *" ${COMP_WORDS[2]-} "* ]] && what=jobs ;;
        worker) [[ " WORKER_COMMANDS " == *" ${COMP_WORDS[2]-} "* ]] && what=workers ;;
    esac
    if [[ -n "$what" && "$COMP_CWORD" -gt 2 && "$cur" != -* && "$prev" != --* ]]; then
        for ((i = 3; i < COMP_CWORD; i++)); do
            case "${COMP_WORDS[i]}" in
                --dir | --master)
                    value="${COMP_WORDS[i+1]-}"
                    # A colon is a word of its own here.
                    [[ "${COMP_WORDS[i+2]-}" == ":" ]] && value="$value:${COMP_WORDS[i+3]-}"
                    where+=("${COMP_WORDS[i]}" "$value")
                    ;;
            esac
        done
        mapfile -t COMPREPLY < <(compgen -W "$("$1" complete "$what" "${where[@]}" 2>/dev/null)" -- "$cur")
        [[ "${#COMPREPLY[@]}" -gt 0 ]] && return 0
    fi
    _howdah "$@"
}
complete -F _howdah_names -o bashdefault -o default howdah
