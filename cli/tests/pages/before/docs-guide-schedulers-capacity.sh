# The page's own files of queues and memory; jobs of which all are the research's.
cp ../blocks/1.toml queues.toml
cp ../blocks/2.xml capacity-scheduler.xml
mkdir -p .config/howdah
cp ../blocks/5.toml .config/howdah/config.toml
jobs some.jsonl
sed 's/"name":/"queue":"research",&/' some.jsonl > run.jsonl
books books
