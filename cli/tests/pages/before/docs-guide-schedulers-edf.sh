# A sort of last week tells what a sort takes.
jobs run.json
books big
howdah up --dir cluster
export HOWDAH_DIR=$PWD/cluster
howdah submit sort --input big --output last-week --wait
# A job's history is written when the job is over already.
until find cluster/master -name 'job_*.json.gz' | grep -q .; do sleep 0.1; done
howdah trace record --dir cluster -o last-week.jsonl
