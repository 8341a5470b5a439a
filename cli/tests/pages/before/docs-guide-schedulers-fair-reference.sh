# The page's own files of pools.
cp ../blocks/0.xml pools.xml
cp ../blocks/1.toml pools.toml
jobs run.jsonl
