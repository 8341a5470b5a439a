
# Names of jobs and workers, as the cluster has them.
function __howdah_names
    set -l words (commandline -opc)
    set -l where
    for i in (seq 1 (count $words))
        if contains -- $words[$i] --dir --master
            set -a where $words[$i] $words[(math $i + 1)]
        end
    end
    command howdah complete $argv $where 2>/dev/null
end
complete -c howdah -n "__fish_seen_subcommand_from job jobs; and __fish_seen_subcommand_from JOB_COMMANDS" -f -k -a "(__howdah_names jobs)"
complete -c howdah -n "__fish_seen_subcommand_from worker; and __fish_seen_subcommand_from WORKER_COMMANDS" -f -a "(__howdah_names workers)"
