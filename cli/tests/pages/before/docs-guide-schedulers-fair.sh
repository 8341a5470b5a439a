# The page's own files of pools.
cp ../blocks/1.xml pools.xml
cp ../blocks/2.toml pools.toml
jobs run.jsonl
