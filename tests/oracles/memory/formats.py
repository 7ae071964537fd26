"""Recordings of any length, in every format: what each writes a line for one session that does not end, and for short
ones, one after the other. Everything but the form is the same in all of them."""

import json
import os
import time

# Characters of a result; tests of a long session with short lines set it low.
WIDTH = int(os.environ.get("WIDTH", "1500"))
# Steps of a session, where the file holds many.
STEPS = 40


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


def going_on(session):
    """Requests that name the response before and give only what is new."""
    for n, tool, arguments, result, call in steps(session):
        new = [{"type": "function_call_output", "call_id": before, "output": text}] if n else "do it"
        request = {"model": "m", "input": new} | ({"previous_response_id": f"resp_{session}_{n - 1}"} if n else {})
        output = [{"type": "function_call", "call_id": call, "name": tool, "arguments": json.dumps(arguments)}]
        yield {"request": request, "response": {"id": f"resp_{session}_{n}", "object": "response", "output": output}}
        before, text = call, result


def strands(session):
    """Messages of Bedrock as sessions of Strands Agents keep them."""
    def kept(number, role, *content):
        return {"message": {"role": role, "content": content}, "message_id": number, "redact_message": None}
    for n, tool, arguments, result, call in steps(session):
        yield kept(2 * n, "assistant", {"text": f"step {n}"},
                   {"toolUse": {"toolUseId": call, "name": tool, "input": arguments}})
        yield kept(2 * n + 1, "user", {"toolResult": {"toolUseId": call, "content": [{"text": result}]}})


def langchain(session):
    for n, tool, arguments, result, call in steps(session):
        proposed = {"type": "tool_call", "id": call, "name": tool, "args": arguments}
        yield {"type": "ai", "data": {"type": "ai", "content": f"step {n}", "tool_calls": [proposed]}}
        yield {"type": "tool", "data": {"type": "tool", "content": result, "tool_call_id": call}}


def assay(session):
    about = {"episode_id": f"e{session}"}
    yield {"type": "episode_start", **about, "timestamp": 1_760_000_000_000, "input": {"prompt": "do it"}}
    for n, tool, arguments, result, call in steps(session):
        step = {**about, "step_id": f"s{n}", "timestamp": 1_760_000_000_000 + n}
        yield {"type": "step", **step, "idx": n, "kind": "llm", "content": f"step {n}"}
        yield {"type": "tool_call", **step, "tool_name": tool, "call_index": 0, "args": arguments,
               "result": json.loads(result)}


def assay_end(session):
    return {"type": "episode_end", "episode_id": f"e{session}", "final_output": "done", "outcome": "pass"}


def mcp(session):
    def line(n, message):
        return {"timestamp": stamp(n), "session_id": f"s{session}", "message": {"jsonrpc": "2.0", **message}}
    yield line(0, {"id": "list", "method": "tools/list", "params": {}})
    yield line(0, {"id": "list", "result": {"tools": [{"name": "Read", "inputSchema": {"type": "object"}}]}})
    for n, tool, arguments, result, call in steps(session):
        yield line(n, {"id": call, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
        yield line(n, {"id": call, "result": {"content": [{"type": "text", "text": result}]}})


def footprint(session):
    def event(n, kind, payload):
        return {"type": f"agentfootprint.{kind}", "payload": payload,
                "meta": {"wallClockMs": 1_760_000_000_000 + n, "runId": f"run-{session}"}}
    yield event(0, "agent.turn_start", {"turnIndex": 0, "userPrompt": "do it"})
    for n, tool, arguments, result, call in steps(session):
        yield event(n, "stream.llm_start", {"iteration": n, "tools": [{"name": "Read"}, {"name": "Write"}]})
        yield event(n, "stream.llm_end", {"iteration": n, "content": f"step {n}", "toolCallCount": 1})
        yield event(n, "stream.tool_start", {"toolName": tool, "toolCallId": call, "args": arguments})
        yield event(n, "stream.tool_end", {"toolCallId": call, "result": result})


def openhands(session):
    def event(n, kind, about):
        return {"kind": kind, "id": f"e{n}", "timestamp": stamp(n)[:-5], **about}
    yield event(0, "MessageEvent", {"source": "user", "llm_message": {"role": "user", "content": [
        {"type": "text", "text": "do it"}]}})
    for n, tool, arguments, result, call in steps(session):
        yield event(2 * n + 1, "ActionEvent", {
            "source": "agent", "thought": [{"type": "text", "text": f"step {n}"}], "tool_name": tool,
            "tool_call_id": call, "llm_response_id": f"r{n}",
            "tool_call": {"id": call, "name": tool, "arguments": json.dumps(arguments)}})
        yield event(2 * n + 2, "ObservationEvent", {
            "source": "environment", "tool_name": tool, "tool_call_id": call, "action_id": f"e{2 * n + 1}",
            "observation": {"content": [{"type": "text", "text": result}], "is_error": False}})


def openhands_older(session):
    for n, tool, arguments, result, call in steps(session):
        about = {"tool_call_id": call, "function_name": tool, "model_response": {"id": f"r{n}"}}
        yield {"id": 2 * n, "timestamp": stamp(n)[:-5], "source": "agent", "action": "run", "args": arguments,
               "tool_call_metadata": about}
        yield {"id": 2 * n + 1, "timestamp": stamp(n)[:-5], "source": "agent", "observation": "run", "content": result,
               "cause": 2 * n, "extras": {"metadata": {"exit_code": 0}}}


def gemini(session):
    yield {"sessionId": f"s{session}", "projectHash": "1b37", "startTime": stamp(0)}
    yield {"id": "m", "timestamp": stamp(0), "type": "user", "content": "do it"}
    for n, tool, arguments, result, call in steps(session):
        response = [{"functionResponse": {"id": call, "name": tool, "response": {"output": result}}}]
        yield {"id": f"m{n}", "timestamp": stamp(n), "type": "gemini", "content": f"step {n}", "toolCalls": [
            {"id": call, "name": tool, "args": arguments, "status": "success", "result": response}]}


def gemini_stream(session):
    yield {"type": "init", "timestamp": stamp(0), "session_id": uuid(session, 0), "model": "auto"}
    for n, tool, arguments, result, call in steps(session):
        yield {"type": "message", "timestamp": stamp(n), "role": "assistant", "content": f"step {n}", "delta": True}
        yield {"type": "tool_use", "timestamp": stamp(n), "tool_name": tool, "tool_id": call, "parameters": arguments}
        yield {"type": "tool_result", "timestamp": stamp(n), "tool_id": call, "status": "success", "output": result}


def qwen(session):
    before = None
    for n, tool, arguments, result, call in steps(session):
        call_part = {"functionCall": {"id": call, "name": tool, "args": arguments}}
        result_part = {"functionResponse": {"id": call, "name": tool, "response": {"output": result}}}
        for kind, part in (("assistant", call_part), ("tool_result", result_part)):
            name = f"{kind}{n}"
            yield {"uuid": name, "parentUuid": before, "sessionId": uuid(session, 0), "timestamp": stamp(n),
                   "type": kind, "cwd": "/work", "message": {"parts": [part]},
                   **({"toolCallResult": {"callId": call, "status": "success"}} if kind == "tool_result" else {})}
            before = name


def cursor_agent(session):
    common = {"session_id": uuid(session, 0)}
    yield {"type": "system", "subtype": "init", "apiKeySource": "login", "cwd": "/work", **common}
    for n, tool, arguments, result, call in steps(session):
        event = {"type": "tool_call", "call_id": call, "model_call_id": f"m{n}", **common}
        yield {**event, "subtype": "started", "tool_call": {f"{tool}ToolCall": {"args": arguments}}}
        done = {"args": arguments, "result": {"success": {"content": result}}}
        yield {**event, "subtype": "completed", "tool_call": {f"{tool}ToolCall": done}}


def vercel(session):
    yield {"role": "user", "content": [{"type": "text", "text": "do it"}]}
    for n, tool, arguments, result, call in steps(session):
        yield {"role": "assistant", "content": [
            {"type": "text", "text": f"step {n}"},
            {"type": "tool-call", "toolCallId": call, "toolName": tool, "input": arguments}]}
        yield {"role": "tool", "content": [{"type": "tool-result", "toolCallId": call, "toolName": tool,
                                            "output": {"type": "json", "value": json.loads(result)}}]}


def swe(session):
    yield {"role": "user", "content": "fix it"}
    for n, _, arguments, result, _ in steps(session):
        yield {"role": "assistant", "content": f"step {n}\n\n```mswea_bash_command\ncat {arguments['file_path']}\n```"}
        yield {"role": "user", "content": f"<returncode>0</returncode>\n<output>\n{result}\n</output>"}


def spans(session):
    """Of each step the request to the model and the call, as they end; what they are part of ends behind them."""
    sent = {"role": "user", "content": "do it"}
    for n, tool, arguments, result, call in steps(session):
        about = {"trace": f"{session:032x}", "parent": f"{session:08x}ffffffff", "start": 1_760_000_000 + 2 * n}
        yield {**about, "id": f"{session:08x}{2 * n:08x}", "kind": "model", "sent": sent, "text": f"step {n}",
               "call": call, "tool": tool, "arguments": arguments}
        yield {**about, "id": f"{session:08x}{2 * n + 1:08x}", "kind": "tool", "start": about["start"] + 1,
               "call": call, "tool": tool, "arguments": arguments, "result": result}
        sent = {"role": "tool", "tool_call_id": call, "content": f"result of step {n}"}


def run(session):
    return {"trace": f"{session:032x}", "id": f"{session:08x}ffffffff", "parent": None, "kind": "agent",
            "start": 1_760_000_000 - 1}


def proposed(span):
    function = {"name": span["tool"], "arguments": json.dumps(span["arguments"])}
    return {"role": "assistant", "content": span["text"],
            "tool_calls": [{"id": span["call"], "type": "function", "function": function}]}


def attributes(span):
    match span["kind"]:
        case "agent":
            return {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper"}
        case "model":
            return {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m",
                    "gen_ai.input.messages": json.dumps([span["sent"]]),
                    "gen_ai.output.messages": json.dumps([proposed(span)])}
        case _:
            return {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": span["tool"],
                    "gen_ai.tool.call.id": span["call"],
                    "gen_ai.tool.call.arguments": json.dumps(span["arguments"]),
                    "gen_ai.tool.call.result": span["result"]}


def otlp(span):
    given = [{"key": key, "value": {"stringValue": value}} for key, value in attributes(span).items()]
    made = {"traceId": span["trace"], "spanId": span["id"], "name": span["kind"],
            "startTimeUnixNano": f"{span['start']}000000000", "endTimeUnixNano": f"{span['start']}500000000",
            "attributes": given} | ({"parentSpanId": span["parent"]} if span["parent"] else {})
    return {"resourceSpans": [{"scopeSpans": [{"spans": [made]}]}]}


def flat(span):
    return {"trace_id": span["trace"], "span_id": span["id"], "parent_span_id": span["parent"], "name": span["kind"],
            "start_time": f"{span['start']}000000000", "end_time": f"{span['start']}500000000",
            "attributes": attributes(span)}


def jaeger(span):
    parent = [{"refType": "CHILD_OF", "traceID": span["trace"], "spanID": span["parent"]}] if span["parent"] else []
    tags = [{"key": key, "type": "string", "value": value} for key, value in attributes(span).items()]
    return {"traceID": span["trace"], "spanID": span["id"], "operationName": span["kind"], "references": parent,
            "startTime": span["start"] * 1_000_000, "duration": 500_000, "tags": tags}


def langsmith(span):
    times = {"start_time": instant(span["start"]), "end_time": instant(span["start"], "500")}
    run = {"id": span["id"], "trace_id": span["trace"], "parent_run_id": span["parent"], **times, "status": "success"}
    match span["kind"]:
        case "agent":
            return {**run, "name": "graph", "run_type": "chain", "inputs": {}, "outputs": {}}
        case "model":
            message = proposed(span)
            return {**run, "name": "model", "run_type": "llm", "inputs": {"messages": [span["sent"]]},
                    "outputs": {"choices": [{"index": 0, "message": message}]}}
        case _:
            output = {"type": "tool", "content": span["result"], "tool_call_id": span["call"], "status": "success"}
            return {**run, "name": span["tool"], "run_type": "tool", "inputs": {"input": json.dumps(span["arguments"])},
                    "outputs": {"output": output}}


def langfuse(span):
    made = {"id": span["id"], "traceId": span["trace"], "parentObservationId": span["parent"], "level": "DEFAULT",
            "startTime": instant(span["start"]), "endTime": instant(span["start"], "500")}
    match span["kind"]:
        case "agent":
            return {**made, "type": "AGENT", "name": "helper"}
        case "model":
            return {**made, "type": "GENERATION", "name": "model", "input": [span["sent"]], "output": proposed(span)}
        case _:
            return {**made, "type": "TOOL", "name": span["tool"], "input": span["arguments"],
                    "output": span["result"], "metadata": {"tool_call_id": span["call"]}}


def agents(span):
    match span["kind"]:
        case "agent":
            data = {"type": "agent", "name": "helper"}
        case "model":
            data = {"type": "generation", "model": "m", "input": [span["sent"]], "output": [proposed(span)]}
        case _:
            data = {"type": "function", "name": span["tool"], "input": json.dumps(span["arguments"]),
                    "output": span["result"]}
    return {"object": "trace.span", "id": span["id"], "trace_id": span["trace"], "parent_id": span["parent"],
            "started_at": instant(span["start"]), "ended_at": instant(span["start"], "500"), "span_data": data}


def instant(seconds, millis="000"):
    return time.strftime(f"%Y-%m-%dT%H:%M:%S.{millis}Z", time.gmtime(seconds))


def traced(of_span):
    """Spans of one run, and of many; what one writes a line each."""
    return (lambda session: map(of_span, spans(session)),
            lambda session: [of_span(span) for span in [*first(spans(session), STEPS), run(session)]])


def one_value(of_session):
    """A format in which a session is one value, so that a line holds a whole one."""
    return None, lambda session: [of_session(session, first(chat_messages(session), STEPS))]


def tau2_message(message):
    """Tools and calls as tau2 writes them: the name and the arguments stand in the call itself."""
    calls = [{"id": call["id"], "name": call["function"]["name"], "requestor": "assistant",
              "arguments": json.loads(call["function"]["arguments"])} for call in message.get("tool_calls") or []]
    answers = {"id": message["tool_call_id"], "requestor": "assistant", "error": False} if "tool_call_id" in message else {}
    return {"role": message["role"], "content": message["content"], "tool_calls": calls or None, **answers}


FORMATS = {
    # name: (lines of one session of any length, lines of one short session)
    "native-sessions": one_value(lambda s, messages: {"id": f"s{s}", "messages": messages}),
    "native-messages": (chat_messages, None),
    "claude-code": (claude, lambda s: first(claude(s), STEPS)),
    "codex-rollout": (rollout, lambda s: first(rollout(s), STEPS)),
    "codex-exec": (codex_exec, lambda s: first(codex_exec(s), STEPS)),
    "openai-chat": (None, exchange(chat_messages, "messages", {})),
    "anthropic": (anthropic_messages, exchange(anthropic_messages, "messages", {"max_tokens": 9})),
    "openai-responses": (items, exchange(items, "input", {})),
    "openai-responses-going-on": (going_on, lambda s: first(going_on(s), STEPS)),
    "bedrock": (strands, None),
    "langchain": (langchain, lambda s: [{"messages": first(langchain(s), STEPS)}]),
    "gemini-cli": (gemini, lambda s: first(gemini(s), STEPS)),
    "gemini-stream": (gemini_stream, lambda s: first(gemini_stream(s), STEPS)),
    "qwen-code": (qwen, lambda s: first(qwen(s), STEPS)),
    "cursor-agent": (cursor_agent, lambda s: first(cursor_agent(s), STEPS)),
    "vercel-ai": (vercel, lambda s: [{"id": f"c{s}", "messages": first(vercel(s), STEPS)}]),
    "openhands": (openhands, lambda s: [{"instance_id": f"i{s}", "history": first(openhands(s), STEPS)}]),
    "openhands-older": (openhands_older, None),
    "mini-swe-agent": (swe, lambda s: [{
        "trajectory_format": "mini-swe-agent-1", "info": {}, "messages": first(swe(s), STEPS)}]),
    "agentfootprint": (footprint, lambda s: first(footprint(s), STEPS)),
    "mcp": (mcp, lambda s: first(mcp(s), STEPS)),
    "assay": (assay, lambda s: [*first(assay(s), STEPS), assay_end(s)]),
    "otel": traced(otlp),
    "otel-flat": traced(flat),
    "jaeger": traced(jaeger),
    "langsmith": traced(langsmith),
    "langfuse": traced(langfuse),
    "openai-agents": traced(agents),
    "agentdojo": (None, lambda s: [dojo(s)]),
    "tau-bench": one_value(lambda s, messages: {"task_id": s, "trial": 0, "reward": 1.0, "info": {}, "traj": messages}),
    "tau2": one_value(lambda s, messages: {
        "id": f"sim{s}", "task_id": str(s), "trial": 0, "termination_reason": "agent_stop",
        "messages": [tau2_message(message) for message in messages]}),
    "inspect": one_value(lambda s, messages: {
        "id": s, "epoch": 1, "target": "", "messages": messages, "output": {}, "store": {}}),
    "swe-agent": one_value(lambda s, messages: {
        "instance_id": f"i{s}", "environment": "main", "history": messages, "info": {},
        "trajectory": [{"action": "ls", "observation": "", "thought": ""}]}),
}
