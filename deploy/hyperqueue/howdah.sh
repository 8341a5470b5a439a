#!/usr/bin/env bash
# A cluster on HyperQueue's workers, for the time of one command: `deploy/hyperqueue/howdah.sh N COMMAND ARGUMENT…`.
#
# N tasks of HyperQueue that take a whole node each become workers; the master and COMMAND run here, where `hq` does.
# COMMAND has HOWDAH_MASTER set, so that `howdah submit … --wait` needs no address; when it ends, the cluster ends.
#
# HOWDAH          the executable, at a path that all nodes see              [howdah]
# HOWDAH_SHARE    a folder that all nodes see, for master and logs          [here]
# HOWDAH_SCRATCH  a folder on each node's own disk, for map outputs         [$TMPDIR, or /tmp]
# HOWDAH_HOST     this machine's name or address, as the nodes know it      [hostname]
set -euo pipefail

[ $# -gt 1 ] || { echo "usage: howdah.sh N COMMAND ARGUMENT…" >&2; exit 2; }
howdah=${HOWDAH:-howdah}
nodes=$1
shift
name=howdah-$(hostname)-$$
dir=${HOWDAH_SHARE:-$PWD}/$name
scratch=${HOWDAH_SCRATCH:-${TMPDIR:-/tmp}}/$name
mkdir -p "$dir"

stop() {
    trap - EXIT
    touch "$dir/stop"
    [ -z "${workers:-}" ] || hq job wait "$workers" || true
    { kill -TERM "$master" && wait "$master"; } 2>/dev/null || true
}

"$howdah" master --listen "${HOWDAH_HOST:-$(hostname)}:0" --dir "$dir/master" 2> "$dir/master.log" &
master=$!
trap stop EXIT
trap 'exit 143' TERM INT
# The file appears when the master listens; its port is one that was free.
until [ -e "$dir/master/access.json" ]; do
    kill -0 "$master" 2>/dev/null || { cat "$dir/master.log" >&2; exit 3; }
    sleep 0.2
done
HOWDAH_MASTER=$(sed -E 's/.*"master":"([^"]+)".*/\1/' "$dir/master/access.json")
export HOWDAH_MASTER

# A worker ends when the file `stop` appears, and takes its folder with it; a task that HyperQueue cancels could not.
worker='"$0" worker --master "$1" --slots-by-cores --name "hq-$HQ_TASK_ID" --dir "$2/hq-$HQ_TASK_ID" &
    until [ -e "$3/stop" ] || ! kill -0 $! 2>/dev/null; do sleep 1; done
    kill -TERM $!; wait $!; rm -rf "$2/hq-$HQ_TASK_ID"; rmdir "$2"'
workers=$(hq submit --output-mode quiet --name "$name" --array "1-$nodes" --cpus all \
    --stdout "$dir/worker-%{TASK_ID}.out" --stderr "$dir/worker-%{TASK_ID}.log" -- \
    bash -c "$worker" "$howdah" "$HOWDAH_MASTER" "$scratch" "$dir")
"$howdah" wait --workers "$nodes" --timeout 5m
"$@"
