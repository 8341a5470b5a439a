# Files of pools as on the page of reference, where they are tried whole.
echo '<allocations><pool name="research"><weight>2.0</weight></pool></allocations>' > pools.xml
printf '[pool.research]\nweight = 2.0\n' > pools.toml
jobs run.jsonl
