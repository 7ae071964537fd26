#!/usr/bin/env python3
"""Measures what `toolgate replay --summary` takes of memory: 200 MB of every line-by-line format, as many sessions and
as one. Run by hand, with a release build:

    tests/oracles/memory/measure.py target/release/toolgate [FORMAT-OR-SHAPE ...]

The policy is a contract without conditions beyond paths, so nothing but what is read is held. MB of the file, seconds,
peak of resident memory in MiB (as the kernel counts it), and what the program said of it.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

SIZE = int(os.environ.get("MEGABYTES", "200")) * 1_000_000
# Characters of a result; tests of a long session with short lines set it low.
WIDTH = int(os.environ.get("WIDTH", "1500"))
# Steps of a session, where the file holds many.
STEPS = 40

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


def dump(value):
    return json.dumps(value, separators=(",", ":")) + "\n"


def steps(session):
    """One after the other: tool, arguments, result, and ids."""
    tools = ["check_eligibility", "issue_refund", "Read", "Write"]
    n = 0
    while True:
        tool = tools[n % 4]
        arguments = {"order_id": f"ORD-{n}", "file_path": f"/src/file{n % 97}.rs"}
        result = json.dumps({"result": {"eligible": n % 3 != 0}, "text": ("word \"quoted\" \n" * 200)[:WIDTH]})
        yield n, tool, arguments, result, f"call_{session}_{n}"
        n += 1


def chat_messages(session):
    yield {"role": "user", "content": "do it"}
    for n, tool, arguments, result, call in steps(session):
        function = {"name": tool, "arguments": json.dumps(arguments)}
        yield {"role": "assistant", "content": f"step {n}",
               "tool_calls": [{"id": call, "type": "function", "function": function}]}
        yield {"role": "tool", "tool_call_id": call, "content": result}


def anthropic_messages(session):
    yield {"role": "user", "content": "do it"}
    for n, tool, arguments, result, call in steps(session):
        yield {"role": "assistant", "content": [
            {"type": "text", "text": f"step {n}"},
            {"type": "tool_use", "id": call, "name": tool, "input": arguments}]}
        yield {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": result}]}


def items(session):
    yield {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "do it"}]}
    for n, tool, arguments, result, call in steps(session):
        yield {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": f"step {n}"}]}
        yield {"type": "function_call", "call_id": call, "name": tool, "arguments": json.dumps(arguments)}
        yield {"type": "function_call_output", "call_id": call, "output": result}


def uuid(session, n):
    return f"{session:08x}-0000-4000-8000-{n:012x}"


def stamp(n):
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(1_760_000_000 + n))


def claude(session):
    def line(n, kind, message):
        return {"parentUuid": uuid(session, n - 1) if n else None, "isSidechain": False, "userType": "external",
                "cwd": "/work", "sessionId": uuid(session, 0xFFFF), "version": "2.1.0", "gitBranch": "main",
                "type": kind, "message": message, "uuid": uuid(session, n), "timestamp": stamp(n)}
    yield line(0, "user", {"role": "user", "content": "do it"})
    at = 1
    for n, tool, arguments, result, call in steps(session):
        yield line(at, "assistant", {"id": f"msg_{session}_{n}", "type": "message", "role": "assistant", "content": [
            {"type": "text", "text": f"step {n}"}]})
        yield line(at + 1, "assistant", {"id": f"msg_{session}_{n}", "type": "message", "role": "assistant", "content": [
            {"type": "tool_use", "id": call, "name": tool, "input": arguments}]})
        yield line(at + 2, "user", {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": call, "content": result}]})
        at += 3


def rollout(session):
    meta = {"id": uuid(session, 0), "timestamp": stamp(0), "cwd": "/work", "originator": "codex", "cli_version": "0.40.0"}
    yield {"timestamp": stamp(0), "type": "session_meta", "payload": meta}
    for n, item in enumerate(items(session)):
        yield {"timestamp": stamp(n), "type": "response_item", "payload": item}


def codex_exec(session):
    yield {"type": "thread.started", "thread_id": uuid(session, 0)}
    yield {"type": "turn.started"}
    for n, tool, arguments, result, call in steps(session):
        item = {"id": call, "type": "mcp_tool_call", "server": "shop", "tool": tool, "arguments": arguments}
        yield {"type": "item.started", "item": {**item, "status": "in_progress"}}
        yield {"type": "item.completed", "item": {**item, "result": {"text": result}, "status": "completed"}}
        yield {"type": "item.completed", "item": {"id": f"say_{n}", "type": "agent_message", "text": f"step {n}"}}


def first(generator, count):
    return [value for value, _ in zip(generator, range(count))]


def exchange(messages, key, tools):
    """A log of requests: each repeats the conversation so far."""
    return lambda session: (
        {"request": {"model": "m", key: (history := first(messages(session), 2 * (n + 1) - 1)), **tools},
         "response": answer(key, first(messages(session), 2 * (n + 1))[-1], n)}
        for n in range(STEPS // 4))


def answer(key, message, n):
    if key == "input":
        return {"id": f"resp_{n}", "object": "response", "output": [message]}
    if isinstance(message["content"], list):
        return {"id": f"msg_{n}", "type": "message", **message}
    return {"id": f"c_{n}", "object": "chat.completion", "choices": [{"index": 0, "message": message}]}


def dojo(session):
    return {"suite_name": "banking", "pipeline_name": "m", "user_task_id": f"user_task_{session}",
            "injection_task_id": None, "attack_type": None, "messages": first(chat_messages(session), STEPS),
            "utility": True, "security": True}


FORMATS = {
    # name: (lines of one session of any length, lines of one short session)
    "native-sessions": (None, lambda s: [{"id": f"s{s}", "messages": first(chat_messages(s), STEPS)}]),
    "native-messages": (chat_messages, None),
    "claude-code": (claude, lambda s: first(claude(s), STEPS)),
    "codex-rollout": (rollout, lambda s: first(rollout(s), STEPS)),
    "codex-exec": (codex_exec, lambda s: first(codex_exec(s), STEPS)),
    "openai-chat": (None, exchange(chat_messages, "messages", {})),
    "anthropic": (anthropic_messages, exchange(anthropic_messages, "messages", {"max_tokens": 9})),
    "openai-responses": (items, exchange(items, "input", {})),
    "agentdojo": (None, lambda s: [dojo(s)]),
}


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


def measure(binary, policy, path):
    began = time.time()
    with open(path + ".out", "wb") as out, open(path + ".err", "wb") as err:
        child = subprocess.Popen([binary, "replay", "--summary", "--format", "json", "-p", policy, path],
                                 stdout=out, stderr=err)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    with open(path + ".out", "rb") as out:
        lines = out.read().splitlines()
    last = json.loads(lines[-1]) if lines else {}
    about = f"{last.get('session', {}).get('format')}, last: {last.get('summary')}"
    return time.time() - began, usage.ru_maxrss / 1024, len(lines), about


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
