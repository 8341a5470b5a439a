jobs run.jsonl
