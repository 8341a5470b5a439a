
# Names of jobs and workers, as the cluster has them.
functions[_howdah_words]=$functions[_howdah]
_howdah() {
    local what="" i
    local -a where names
    case "$words[2]" in
        job|jobs) [[ "$words[3]" == (JOB_COMMANDS) ]] && what=jobs ;;
        worker) [[ "$words[3]" == (WORKER_COMMANDS) ]] && what=workers ;;
    esac
    if [[ -n "$what" && CURRENT -gt 3 && "$words[CURRENT]" != -* && "$words[CURRENT-1]" != --* ]]; then
        for ((i = 4; i < CURRENT; i++)); do
            [[ "$words[i]" == (--dir|--master) ]] && where+=("$words[i]" "$words[i+1]")
        done
        names=(${(f)"$("$words[1]" complete "$what" $where 2>/dev/null)"})
        (( $#names )) && { compadd -V names -- $names; return }
    fi
    _howdah_words "$@"
}
