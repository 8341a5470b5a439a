run cluster
howdah trace record --dir cluster -o run.jsonl
