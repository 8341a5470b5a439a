# A sort of last week tells what a sort takes.
jobs run.json
books big
howdah up --dir cluster
export HOWDAH_DIR=$PWD/cluster
howdah submit sort --input big --output last-week --wait
howdah trace record --dir cluster -o last-week.jsonl
