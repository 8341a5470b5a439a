jobs run.json
