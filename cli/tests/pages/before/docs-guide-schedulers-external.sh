jobs run.json
cp "$REPOSITORY/docs/guide/schedulers/examples/shortest_first.py" .
