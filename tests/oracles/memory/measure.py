#!/usr/bin/env python3
"""Measures what `rulestep replay --summary` takes of memory: 200 MB of every line-by-line format, as many sessions and
as one. Run by hand, with a release build:

    tests/oracles/memory/measure.py target/release/rulestep [FORMAT-OR-SHAPE ...]

The policy is a contract without conditions beyond paths, so nothing but what is read is held. MB of the file, seconds,
peak of resident memory in MiB (as the kernel counts it), and what the program said of it.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

from formats import FORMATS, dump

SIZE = int(os.environ.get("MEGABYTES", "200")) * 1_000_000

POLICY = """
tool: issue_refund
preconditions:
  - requires_prior_tool: check_eligibility
    with_output:
      - {path: "$.result.eligible", equals: true}
---
tool: Write
preconditions:
  - requires_prior_tool: Read
"""


def write(path, lines):
    size = 0
    with open(path, "w") as out:
        for line in lines:
            text = dump(line)
            out.write(text)
            size += len(text)
            if size >= SIZE:
                return


def forever(short):
    session = 0
    while True:
        yield from short(session)
        session += 1


def resident(pid):
    """The most that a process has held, in KiB."""
    try:
        with open(f"/proc/{pid}/status") as status:
            held = [line.split()[1] for line in status if line.startswith("VmHWM:")]
    except OSError:
        return 0
    return int(held[0]) if held else 0


def measure(binary, policy, path):
    began = time.time()
    with open(path + ".out", "wb") as out, open(path + ".err", "wb") as err:
        child = subprocess.Popen([binary, "replay", "--summary", "--format", "json", "-p", policy, path],
                                 stdout=out, stderr=err)
        peak = 0
        # What `wait4` gives counts what this process held when it made the child.
        while child.poll() is None:
            peak = max(peak, resident(child.pid))
            time.sleep(0.01)
    with open(path + ".out", "rb") as out:
        lines = out.read().splitlines()
    last = json.loads(lines[-1]) if lines else {}
    about = f"{last.get('session', {}).get('format')}, last: {last.get('summary')}"
    return time.time() - began, peak / 1024, len(lines), about


def main():
    binary, *wanted = sys.argv[1:]
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        policy = os.path.join(folder, "policy.yaml")
        with open(policy, "w") as out:
            out.write(POLICY)
        for name, shapes in FORMATS.items():
            for shape, lines in zip(("one", "many"), shapes):
                if lines is None or wanted and not {name, shape} & set(wanted):
                    continue
                path = os.path.join(folder, f"{name}-{shape}.jsonl")
                write(path, lines(0) if shape == "one" else forever(lines))
                size = os.path.getsize(path) / 1e6
                seconds, peak, sessions, about = measure(binary, policy, path)
                print(f"{name:17} {shape:5} {size:4.0f} MB {seconds:6.2f} s {peak:6.1f} MiB  {sessions} sessions; {about}",
                      flush=True)
                with open(path + ".err") as err:
                    print("".join(f"    {line}" for line in err.readlines()[:3]), end="", flush=True)
                os.remove(path)


if __name__ == "__main__":
    main()
