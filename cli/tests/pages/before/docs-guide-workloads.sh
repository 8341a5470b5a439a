# The page's own description, a day made by it, and other traces.
cp ../blocks/1.toml nightly.toml
howdah trace generate nightly.toml --jobs 400 -o day.jsonl.gz
for trace in monday.jsonl tuesday.jsonl small.jsonl; do jobs $trace; done
