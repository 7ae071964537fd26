"""Replays sessions on the workers of a Spark cluster, merges the results, and compares them with one run over all."""

import json
import os
import platform
import shlex
import subprocess
import sys
import tempfile
import time

from pyspark import SparkContext

RULESTEP = os.path.abspath(os.environ["RULESTEP"]) if "RULESTEP" in os.environ else "rulestep"
MASTER = os.environ.get("MASTER", "local-cluster[2,1,1024]")
PARTITIONS = int(os.environ.get("PARTITIONS", "8"))


def rulestep(*arguments, stdout):
    """Exit code 1 means findings; anything above is a failure."""
    code = subprocess.run([RULESTEP, *arguments, "-q"], stdout=stdout).returncode
    if code > 1:
        sys.exit(f"rulestep {arguments[0]} ended with {code}")


def main():
    sessions = sys.argv[1] if len(sys.argv) > 1 else "sample-traces"
    policy = os.path.abspath(sys.argv[2] if len(sys.argv) > 2 else "contracts")
    copies = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    work = tempfile.mkdtemp(prefix="rulestep-spark-")
    lines, parts = os.path.join(work, "sessions.jsonl"), os.path.join(work, "parts.json")

    # One session a line, and copies under other ids, so that there is something to do.
    with open(lines + ".once", "wb") as out:
        rulestep("convert", sessions, stdout=out)
    with open(lines + ".once") as once, open(lines, "w") as out:
        originals = [json.loads(line) for line in once]
        for copy in range(copies):
            for session in originals:
                out.write(json.dumps({**session, "id": f"{session['id']}/{copy}"}) + "\n")
    count = copies * len(originals)

    replay = ["replay", "-p", policy, "--summary", "--format", "json"]
    started = time.monotonic()
    with open(os.path.join(work, "single.json"), "wb") as out:
        rulestep(*replay, lines, stdout=out)
    single_time = time.monotonic() - started
    with open(os.path.join(work, "single.json")) as single:
        single = json.loads(single.readlines()[-1])["totals"]

    context = SparkContext(MASTER, "rulestep")
    context.setLogLevel("ERROR")
    filter_command = shlex.join([RULESTEP, *replay, "--lines", "-", "--totals", "-q"])
    # The first job starts the workers, which is no part of the time.
    context.parallelize(range(8), 8).count()
    started = time.monotonic()
    results = context.textFile(f"file://{lines}", PARTITIONS).pipe(filter_command).cache()
    judged = results.filter(lambda line: '"session":{' in line[:80]).count()
    totals = results.filter(lambda line: line.startswith('{"schema":"rulestep.replay/2","totals"')).collect()
    # `pipe` passes exit codes over, since 1 means findings. A filter that failed has written no totals.
    partitions = results.getNumPartitions()
    if len(totals) != partitions:
        sys.exit(f"{partitions - len(totals)} of {partitions} partitions have no totals")
    with open(parts, "w") as out:
        out.write("\n".join(totals))
    with open(os.path.join(work, "merged.json"), "wb") as out:
        rulestep("merge", parts, stdout=out)
    spark_time = time.monotonic() - started
    with open(os.path.join(work, "merged.json")) as merged:
        merged = json.load(merged)["totals"]
    context.stop()

    # Notices about a file as a whole are of the line in one run and of the file in the other.
    for result in (single, merged):
        del result["diagnostics"]
        result["provenance"].pop("inputs")
    differing = [key for key in single if single[key] != merged.get(key)]
    same = not differing and judged == count == merged["sessions"] and single.keys() == merged.keys()
    print(f"machine     {os.cpu_count()} processors, {platform.machine()}, {platform.system()}")
    print(f"sessions    {count}, {os.path.getsize(lines) / 1e6:.1f} MB, {merged['calls']} calls")
    print(f"single run  {single_time:.2f} s")
    print(f"Spark       {spark_time:.2f} s, {MASTER}, {partitions} partitions, merge included")
    print(f"result      {'the same' if same else 'DIFFERENT: ' + ', '.join(differing)}")
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
