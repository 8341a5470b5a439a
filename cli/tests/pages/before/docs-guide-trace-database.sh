jobs words.jsonl
cp "$REPOSITORY/shared/traces/tests/fixtures/swim-six.tsv" FB-2009_samples_24_times_1hr_0.tsv
