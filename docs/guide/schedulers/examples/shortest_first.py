"""Shortest job first: free slots go to the job with the fewest tasks left; equals in order of submission.

    howdah replay run.json --scheduler external -D command='python3 shortest_first.py'
"""

import json
import sys

jobs = {}  # by number, as told so far


def tasks_left(job):
    left = job["n_maps"] - job["maps_done"] + job["n_reduces"] - job["reduces_done"]
    return left, job["job"]


def choose(offer):
    declined = {(d["job"], d["kind"]) for d in offer.get("declined", [])}
    choices = []
    for kind, free in (("map", offer["free_maps"]), ("reduce", offer["free_reduces"])):
        waiting = [job for job in jobs.values() if job[kind + "s_waiting"] > 0 and (job["job"], kind) not in declined]
        while free > 0 and waiting:
            job = min(waiting, key=tasks_left)
            waiting.remove(job)
            count = min(free, job[kind + "s_waiting"])
            choices.append({"job": job["job"], "kind": kind, "count": count})
            free -= count
    return choices


for line in sys.stdin:
    said = json.loads(line)
    if said["type"] == "hello":
        answer = {"type": "hello", "protocol": 1}
    else:
        for job in said["jobs"]:
            jobs.setdefault(job["job"], {}).update(job)
        for number in said["gone"]:
            jobs.pop(number, None)
        answer = {"id": said["id"], "choices": choose(said)}
    print(json.dumps(answer), flush=True)
