#!/usr/bin/env python3
"""Counts what recordings say of times, offered tools and refusals, straight from their files: an oracle for what
`rulestep convert` keeps of them. See README.md beside this file.

    count.py FOLDER                       prints the counts of every file under the folder as JSON
    count.py FOLDER --convert rulestep    converts every file and prints where the two disagree; exit 1 if any does
"""

import argparse
import json
import re
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

# What is counted of a file; README.md says what each means.
KEYS = [
    "sessions", "turns", "turns_timed", "turns_ms", "calls", "calls_timed", "calls_ms", "results", "results_timed", "results_ms",
    "offering_sessions", "offering_turns", "offered_names", "refused",
]
# Sums of times are kept modulo a prime: enough to notice another time, nothing of the recording itself.
PRIME = 999_983


class Turn:
    """One response of the model: when, what it could call (None: not said), and what it called."""

    def __init__(self, at=None, tools=None):
        self.at, self.tools, self.calls = at, tools, []

    def call(self, name, id=None, at=None):
        self.calls.append(Call(name, id, at))
        return self.calls[-1]


class Call:
    def __init__(self, name, id, at):
        self.name, self.id, self.at = name, id, at
        self.answered, self.result_at, self.refused = False, None, False

    def answer(self, text, at=None, refused=False):
        self.answered, self.result_at = True, at
        self.refused = refused or refusal_text(text, self.name)


def refusal_text(content, tool):
    """The refusals that are known by their words, whatever the format."""
    if isinstance(content, list):
        content = "\n".join(part.get("text") or "" for part in content if isinstance(part, dict))
    if not isinstance(content, str):
        return False
    published = [f"Tool '{tool}' is not available in this context.",
                 "Tool call rejected based on configured rejection plan"]
    return content.startswith("[permission denied:") or content.strip() in published


def tally(sessions):
    counts = dict.fromkeys(KEYS, 0)
    for turns in sessions:
        counts["sessions"] += 1
        known = None
        for turn in turns:
            counts["turns"] += 1
            if turn.at is not None:
                counts["turns_timed"] += 1
                counts["turns_ms"] = (counts["turns_ms"] + turn.at) % PRIME
            known = turn.tools if turn.tools is not None else known
            if known is not None:
                counts["offering_turns"] += 1
                counts["offered_names"] += len(known)
            for call in turn.calls:
                counts["calls"] += 1
                counts["results"] += call.answered
                counts["refused"] += call.refused
                if call.at is not None:
                    counts["calls_timed"] += 1
                    counts["calls_ms"] = (counts["calls_ms"] + call.at) % PRIME
                if call.result_at is not None:
                    counts["results_timed"] += 1
                    counts["results_ms"] = (counts["results_ms"] + call.result_at) % PRIME
        counts["offering_sessions"] += known is not None
    return counts


def iso(text):
    """Milliseconds since 1970; a time without a zone is taken for UTC."""
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    since = moment - datetime(1970, 1, 1, tzinfo=timezone.utc)
    return (since.days * 86_400 + since.seconds) * 1000 + since.microseconds // 1000


def lines(path):
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            pass
    return found


def whole(path):
    return json.loads(path.read_text(encoding="utf-8"))


def pair(open_calls, id, *answer, **more):
    """Gives a result to the oldest call with its id that has none; without an id, to the oldest."""
    for call in open_calls:
        if not call.answered and (id is None or call.id == id):
            return call.answer(*answer, **more)


def chat(messages, tools=None):
    """The turns of a list of chat messages, in any of the dialects of these folders."""
    turns, calls = [], []
    for message in messages:
        if message["role"] == "assistant":
            turns.append(Turn(tools=tools if not turns else None))
            legacy = message.get("function_call")
            for made in message.get("tool_calls") or ([{"function": legacy}] if legacy else []):
                function = made["function"]
                name = function["name"] if isinstance(function, dict) else function
                calls.append(turns[-1].call(name, made.get("id")))
        elif message["role"] in ("tool", "function"):
            ids = message.get("tool_call_ids") or [message.get("tool_call_id")]
            for id in ids:
                pair(calls, id, message.get("content"))
    return turns


def tau_bench(path):
    return [chat(episode["traj"]) for episode in whole(path)]


def agentdojo(path):
    run = whole(path)
    return [chat(run["conversations"], list(run["tool_permission"]) if "tool_permission" in run else None)]


def openai_chat(path):
    return [chat(one["messages"], one.get("tools") or one.get("available_tools")) for one in whole(path)]


def claude_code(path):
    turns, calls = {}, []
    for line in lines(path):
        message = line.get("message") if isinstance(line, dict) else None
        if not isinstance(message, dict) or line.get("type") not in ("user", "assistant"):
            continue
        at = iso(line.get("timestamp"))
        blocks = message.get("content")
        blocks = [block for block in blocks if isinstance(block, dict)] if isinstance(blocks, list) else []
        if line["type"] == "assistant":
            turn = turns.setdefault(message["id"], Turn())
            # Thoughts are no part of what was said.
            if any(block.get("type") != "thinking" for block in blocks):
                turn.at = turn.at or at
            calls += [turn.call(b["name"], b["id"], at) for b in blocks if b.get("type") == "tool_use"]
        for block in blocks:
            if block.get("type") == "tool_result":
                said = block.get("content")
                no = block.get("is_error") and str(said).startswith("The user doesn't want to proceed with this tool use.")
                # The program rejected the call before it ran: its own record of the result repeats the words.
                words = re.fullmatch(r"<tool_use_error>(.*)</tool_use_error>", str(said), re.S)
                told = line.get("toolUseResult")
                no = no or words and block.get("is_error") and told in (words[1], "Error: " + words[1])
                pair(calls, block["tool_use_id"], said, at, refused=bool(no))
    return [list(turns.values())]


def codex_rollout(path):
    turns, calls, said = [], [], False
    for line in lines(path):
        item, at = line.get("payload") or {}, iso(line.get("timestamp"))
        if line.get("type") != "response_item":
            continue
        kind = item.get("type")
        if kind == "function_call_output":
            pair(calls, item["call_id"], item.get("output"), at)
        response = kind in ("reasoning", "function_call") or item.get("role") == "assistant"
        if response:
            if not said:
                turns.append(Turn(at))
            if kind == "function_call":
                calls.append(turns[-1].call(item["name"], item["call_id"], at))
        said = response
    return [turns]


def codex_exec(path):
    turns, said = [], False
    for line in lines(path):
        item = line.get("item", {})
        if line["type"] != "item.completed":
            continue
        if not said:
            turns.append(Turn())
        said = item["type"] not in ("command_execution", "file_change")
        if not said:
            turns[-1].call(item["type"], item["id"]).answer(item.get("aggregated_output"))
    return [turns]


def gemini_cli(path):
    saved, turns = whole(path), []
    for message in saved.get("messages", [saved]):
        if message["type"] == "gemini":
            at = iso(message.get("timestamp"))
            turns.append(Turn(at))
            for made in message.get("toolCalls", []):
                # The call stands with the response; the record of it is written when it has ended.
                call = turns[-1].call(made["name"], made["id"], at)
                if made.get("result"):
                    # A tool that the program does not have cannot run.
                    unknown = made["status"] == "error" and f'Tool "{made["name"]}" not found in registry' in str(made["result"])
                    call.answer(None, iso(made.get("timestamp")), refused=made["status"] == "cancelled" or unknown)
    return [turns]


def openhands(path):
    turns, calls = {}, {}
    for event in whole(path):
        at, meta = iso(event.get("timestamp")), event.get("tool_call_metadata")
        if event.get("source") == "agent" and "action" in event:
            key = meta["model_response"]["id"] if meta else event["id"]
            turn = turns.setdefault(key, Turn(at))
            if meta:
                calls[event["id"]] = turn.call(meta["function_name"], meta["tool_call_id"], at)
        elif "observation" in event and event.get("cause") in calls:
            calls[event["cause"]].answer(event.get("content"), at)
    return [list(turns.values())]


def swe_agent(path):
    run = whole(path)
    if any(message.get("tool_calls") for message in run["history"]):
        return [chat(run["history"])]
    turns = []
    for step in run["trajectory"]:
        turns.append(Turn())
        turns[-1].call(step["action"].split()[0]).answer(step["observation"])
    return [turns]


def mini_swe_agent(path):
    turns, open_call = [], None
    for message in whole(path):
        if message["role"] == "assistant":
            turns.append(Turn())
            if "```mswea_bash_command" in message["content"]:
                open_call = turns[-1].call("bash")
        elif open_call and message["role"] == "user":
            open_call.answer(message["content"])
            open_call = None
    return [turns]


def inspect(path):
    sessions = []
    for sample in whole(path)["samples"]:
        asked, ran = {}, {}
        for event in sample["events"]:
            if event["event"] == "model":
                for choice in event["output"]["choices"]:
                    asked[choice["message"]["id"]] = event
            elif event["event"] == "tool":
                ran[event["id"]] = event
        turns, calls = [], []
        for message in sample["messages"]:
            if message["role"] == "assistant":
                event = asked.get(message["id"])
                at = iso(event["completed"]) if event else None
                turns.append(Turn(at, event["tools"] if event else None))
                for made in message.get("tool_calls") or []:
                    calls.append(turns[-1].call(made["function"], made["id"], at))
            elif message["role"] == "tool":
                event = ran.get(message["tool_call_id"], {})
                pair(calls, message["tool_call_id"], message.get("content"), iso(event.get("completed")))
        sessions.append(turns)
    return sessions


def otel(path):
    """Spans in any wrapping: calls of tools, and the innermost spans that asked a model, by their start."""
    spans = []

    def walk(node):
        if isinstance(node, dict):
            if "startTimeUnixNano" in node or "operationName" in node:
                return spans.append(node)
            node = list(node.values())
        if isinstance(node, list):
            for item in node:
                walk(item)

    walk(lines(path) if path.suffix == ".jsonl" else whole(path))
    read = []
    for span in spans:
        listed = span.get("attributes", span.get("tags"))
        if isinstance(listed, list):
            listed = {a["key"]: next(iter(a["value"].values())) if isinstance(a["value"], dict) else a["value"]
                      for a in listed}
        if "startTime" in span:
            start, end = span["startTime"] // 1000, (span["startTime"] + span["duration"]) // 1000
        else:
            start, end = (int(span[key]) // 1_000_000 for key in ("startTimeUnixNano", "endTimeUnixNano"))
        read.append((start, end, span, listed))
    read.sort(key=lambda one: one[0])
    operation = [attributes.get("gen_ai.operation.name") for *_, attributes in read]
    asks = ["openai.chat" == span.get("name", span.get("operationName")) for _, _, span, _ in read]
    if not any(asks):
        asks = [name in ("chat", "generate_content", "text_completion") for name in operation]
    turns = []
    for (start, end, _, attributes), name, ask in zip(read, operation, asks):
        if ask:
            names = [value for key, value in attributes.items()
                     if re.fullmatch(r"llm\.request\.functions\.\d+\.name", key)]
            turns.append(Turn(end, names or None))
        elif name == "execute_tool":
            if not turns:
                turns.append(Turn(start))
            call = turns[-1].call(attributes["gen_ai.tool.name"], attributes.get("gen_ai.tool.call.id"), start)
            # A call that was made while the response was streamed: it stood by then.
            turns[-1].at = min(turns[-1].at, start)
            for key in ("gcp.vertex.agent.tool_response", "gen_ai.tool.call.result", "gen_ai.tool.result"):
                if key in attributes:
                    call.answer(attributes[key], end)
    return [turns]


def mcp(path):
    turns, calls = [], []
    for message in whole(path):
        if message.get("method") == "tools/call":
            turns.append(Turn())
            calls.append(turns[-1].call(message["params"]["name"], message["id"]))
        elif "result" in message or "error" in message:
            pair(calls, message["id"], None)
    return [turns]


def assay(path):
    sessions = {}
    for number, line in enumerate(lines(path)):
        if "type" not in line:
            turn = sessions.setdefault(number, [Turn()])[0]
            turn.call(line["tool"]).answer(line["response"])
            continue
        steps = sessions.setdefault(line["episode_id"], {})
        if line["type"] == "step":
            steps[line["step_id"]] = Turn(line["timestamp"])
        elif line["type"] == "tool_call":
            call = steps[line["step_id"]].call(line["tool_name"], None, line["timestamp"])
            # One record holds the call and its result, and has one time.
            call.answer(line.get("result"), line["timestamp"])
    return [list(turns.values()) if isinstance(turns, dict) else turns for turns in sessions.values()]


def agentfootprint(path):
    turns, calls = [], {}
    for event in whole(path)["events"]:
        kind, payload, at = event["type"].removeprefix("agentfootprint.stream."), event["payload"], event["meta"]["wallClockMs"]
        if kind == "llm_start":
            turns.append(Turn(None, payload["tools"]))
        elif kind == "llm_end":
            turns[-1].at = at
        elif kind == "tool_start":
            calls[payload["toolCallId"]] = turns[-1].call(payload["toolName"], payload["toolCallId"], at)
        elif kind == "tool_end":
            calls[payload["toolCallId"]].answer(payload["result"], at)
    return [turns]


def vercel_ai(path):
    turns = []
    for message in whole(path)["messages"]:
        if message["role"] == "assistant":
            at = message.get("metadata", {}).get("createdAt")
            turns.append(Turn(at))
            called = False
            for part in message["parts"]:
                if part["type"].startswith("tool-"):
                    call = turns[-1].call(part["type"].removeprefix("tool-"), part["toolCallId"], at)
                    called = True
                    if part["state"] == "output-available":
                        # A part holds the call and its output, and the message its only time.
                        call.answer(part["output"], at)
                elif called:
                    # What is said once the output is there was said by another response.
                    turns.append(Turn(at))
                    called = False
    return [turns]


def openai_agents(path):
    turn, calls, tools = None, {}, None
    for line in lines(path):
        at = iso(line["timestamp"])
        tools = line.get("available_tools") or tools
        if line.get("span_type") == "function" and line["event_phase"] == "start":
            turn = turn or Turn(at)
            calls[line["span_id"]] = turn.call(line["tool_name"], None, at)
    turn.tools = tools
    return [[turn]]


def nothing(_):
    return []


FOLDERS = {
    "tau-bench": tau_bench, "agentdojo-drift": agentdojo, "claude-code": claude_code, "claude-code-edge": claude_code,
    "codex-rollout": codex_rollout, "codex-exec-json": codex_exec, "gemini-cli": gemini_cli,
    "openai-chat-tools": openai_chat, "openhands-events": openhands, "swe-agent": swe_agent,
    "mini-swe-agent": mini_swe_agent, "inspect-ai": inspect, "otel": otel, "mcp-jsonrpc": mcp, "assay-trace": assay,
    "agentfootprint": agentfootprint,
}
SYNTHETIC = {".vercel-ai.json": vercel_ai, ".openai-agents.ndjson": openai_agents,
             ".langgraph.ndjson": nothing, ".langfuse.json": nothing}


def counter(path, folder):
    if folder == "synthetic-fixtures":
        return next(count for end, count in SYNTHETIC.items() if path.name.endswith(end))
    return FOLDERS[folder]


def native(text):
    """The turns of what `convert` writes, which keeps a time at messages and, where it is another, at calls."""
    sessions = []
    for line in text.splitlines():
        document = json.loads(line)
        turns, calls, last = [], [], None
        for message in document["messages"]:
            at = iso(message.get("at")) if not isinstance(message.get("at"), int) else message["at"]
            if message["role"] == "assistant":
                if not (turns and last is not None and message.get("id") == last):
                    turns.append(Turn())
                last = message.get("id")
                turns[-1].at = turns[-1].at if turns[-1].at is not None else at
                for made in message.get("tool_calls", []):
                    own = iso(made["at"]) if "at" in made else at
                    calls.append(turns[-1].call(made["function"]["name"], made.get("id"), own))
            elif message["role"] == "tool":
                pair(calls, message.get("tool_call_id"), message.get("content"), at, refused=message.get("refused", False))
        if "tools" in document and turns:
            turns[0].tools = document["tools"]
        for change in document.get("tools_at", []):
            if change["turn"] <= len(turns):
                turns[change["turn"] - 1].tools = change["tools"]
        sessions.append(turns)
    return sessions


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--convert", metavar="RULESTEP", help="compare with what this program converts")
    arguments = parser.parse_args()
    counts, differ = {}, 0
    for path in sorted(path for path in arguments.folder.rglob("*") if path.is_file()):
        name = path.relative_to(arguments.folder)
        if len(name.parts) == 1:
            continue
        count = tally(counter(path, name.parts[0])(path))
        counts[str(name)] = [count[key] for key in KEYS]
        if arguments.convert:
            program = [arguments.convert, "convert", "-q", str(path)]
            made = tally(native(subprocess.run(program, capture_output=True, text=True, check=False).stdout))
            for key in KEYS:
                if made[key] != count[key]:
                    differ += 1
                    print(f"{name}: {key}: {count[key]} recorded, {made[key]} converted")
    if arguments.convert:
        print(f"{len(counts)} files, {differ} differences")
        return int(differ > 0)
    rows = ",\n".join(f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in counts.items())
    print(f'{{\n"columns": {json.dumps(KEYS)},\n"files": {{\n{rows}\n}}\n}}')
    return 0


if __name__ == "__main__":
    sys.exit(main())
