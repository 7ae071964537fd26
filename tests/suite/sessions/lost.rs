//! What each format may lose: a small clean recording of every one, what is done to it, what is said to be lost then, and how
//! `replay` ends.

use std::collections::BTreeSet;

use rulestep_base::diagnostic::Loss;
use rulestep_recording::{self as recording, FORMATS, Options};

use super::losses::losses;
use super::{opened, opened_with};
use crate::cli::{folder, rulestep};

/// A recording of each format with a call of `find`, its result, and nothing wrong.
pub const CLEAN: &[(&str, &str)] = &[
    (
        "rulestep-live",
        r#"{"record":"opened","schema":"rulestep.live/1","agent":"claude-code","session":"s","parent":null,"at":1777888800000,"context":{"cwd":"/"},"middle":null}
{"record":"said","role":"user","content":"Look","at":1777888800100}
{"record":"turn","at":1777888801000,"transcript":0}
{"record":"proposed","id":"c1","tool":"find","arguments":{"n":1},"at":1777888801000,"decision":"allow","mode":"enforce","runs":true,"findings":[],"told":null,"policy":"sha256:0","policy_fault":null,"took":1.2}
{"record":"resolved","id":"c1","outcome":"ok","output":"ok","at":1777888802000}
"#,
    ),
    (
        "claude-code",
        r#"{"type":"user","sessionId":"s","uuid":"u1","parentUuid":null,"message":{"role":"user","content":"Look"}}
{"type":"assistant","sessionId":"s","uuid":"a1","parentUuid":"u1","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"c1","name":"find","input":{"n":1}}]}}
{"type":"user","sessionId":"s","uuid":"u2","parentUuid":"a1","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"ok"}]}}
"#,
    ),
    (
        "qwen-code",
        r#"{"uuid":"u1","parentUuid":null,"sessionId":"s","timestamp":"2026-05-04T10:00:01.000Z","type":"user","cwd":"/","version":"0.24.7","message":{"role":"user","parts":[{"text":"Look"}]}}
{"uuid":"a1","parentUuid":"u1","sessionId":"s","timestamp":"2026-05-04T10:00:02.000Z","type":"assistant","cwd":"/","version":"0.24.7","model":"qwen","message":{"role":"model","parts":[{"functionCall":{"id":"c1","name":"find","args":{"n":1}}}]}}
{"uuid":"t1","parentUuid":"a1","sessionId":"s","timestamp":"2026-05-04T10:00:03.000Z","type":"tool_result","cwd":"/","version":"0.24.7","message":{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"find","response":{"output":"ok"}}}]},"toolCallResult":{"callId":"c1","status":"success"}}
"#,
    ),
    (
        "cursor-agent",
        r#"{"type":"system","subtype":"init","apiKeySource":"login","cwd":"/","session_id":"s","model":"Auto","permissionMode":"default"}
{"type":"user","message":{"role":"user","content":[{"type":"text","text":"Look"}]},"session_id":"s"}
{"type":"tool_call","subtype":"started","call_id":"c1","tool_call":{"readToolCall":{"args":{"path":"a"}}},"model_call_id":"m1","session_id":"s","timestamp_ms":1777888802000}
{"type":"tool_call","subtype":"completed","call_id":"c1","tool_call":{"readToolCall":{"args":{"path":"a"},"result":{"success":{"content":"ok"}}}},"model_call_id":"m1","session_id":"s","timestamp_ms":1777888802100}
"#,
    ),
    (
        "codex-rollout",
        r#"{"timestamp":"2026-05-04T10:00:00.000Z","type":"session_meta","payload":{"id":"s","timestamp":"2026-05-04T10:00:00.000Z","cwd":"/","originator":"codex_cli_rs","cli_version":"0.80.0","instructions":null}}
{"timestamp":"2026-05-04T10:00:00.200Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Look"}]}}
{"timestamp":"2026-05-04T10:00:01.000Z","type":"response_item","payload":{"type":"function_call","name":"find","arguments":"{\"n\":1}","call_id":"c1"}}
{"timestamp":"2026-05-04T10:00:02.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"ok"}}
"#,
    ),
    (
        "codex-exec",
        r#"{"type":"thread.started","thread_id":"s"}
{"type":"turn.started"}
{"type":"item.started","item":{"id":"i1","type":"command_execution","command":"ls","aggregated_output":"","status":"in_progress"}}
{"type":"item.completed","item":{"id":"i1","type":"command_execution","command":"ls","aggregated_output":"ok","exit_code":0,"status":"completed"}}
{"type":"turn.completed","usage":{"input_tokens":1}}
"#,
    ),
    (
        "copilot-cli",
        r#"{"type":"session.start","data":{"sessionId":"s","version":1,"producer":"copilot-agent","copilotVersion":"1.0.3","context":{"cwd":"/w"}},"id":"e0","timestamp":"2026-05-04T10:00:00.000Z","parentId":null}
{"type":"user.message","data":{"content":"Look"},"id":"e1","timestamp":"2026-05-04T10:00:01.000Z","parentId":null}
{"type":"assistant.message","data":{"messageId":"m1","content":"","toolRequests":[{"toolCallId":"c1","name":"find","arguments":{"n":1},"type":"function"}]},"id":"e2","timestamp":"2026-05-04T10:00:02.000Z","parentId":null}
{"type":"tool.execution_start","data":{"toolCallId":"c1","toolName":"find","arguments":{"n":1}},"id":"e3","timestamp":"2026-05-04T10:00:03.000Z","parentId":null}
{"type":"tool.execution_complete","data":{"toolCallId":"c1","success":true,"result":{"content":"ok"}},"id":"e4","timestamp":"2026-05-04T10:00:04.000Z","parentId":null}
"#,
    ),
    (
        "opencode",
        r#"{"info":{"id":"s","version":"1.1.0","directory":"/w"},"messages":[{"info":{"id":"m1","sessionID":"s","role":"user","time":{"created":1777888800000}},"parts":[{"type":"text","text":"Look"}]},{"info":{"id":"m2","sessionID":"s","role":"assistant","time":{"created":1777888801000}},"parts":[{"type":"step-start"},{"type":"tool","callID":"c1","tool":"find","state":{"status":"completed","input":{"n":1},"output":"ok"}},{"type":"step-finish","reason":"tool-calls"}]}]}
"#,
    ),
    (
        "vscode-chat",
        r#"{"version":3,"requesterUsername":"u","responderUsername":"GitHub Copilot","sessionId":"s","requests":[{"requestId":"r1","message":{"text":"Look"},"response":[{"kind":"toolInvocationSerialized","toolId":"find","toolCallId":"c1","isConfirmed":{"type":1},"isComplete":true}],"result":{"metadata":{"toolCallRounds":[{"response":"","toolCalls":[{"name":"find","arguments":"{\"n\":1}","id":"c1"}],"id":"r1"}],"toolCallResults":{"c1":{"content":[{"value":"ok"}]}}}}}]}
"#,
    ),
    (
        "cline",
        r#"[{"role":"user","content":[{"type":"text","text":"<task>\nLook\n</task>"}],"ts":1777888800000},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"find","input":{"n":1}}],"ts":1777888801000},{"role":"user","content":[{"type":"text","text":"[find for '1'] Result:\nok"}],"ts":1777888802000}]
"#,
    ),
    (
        "amp",
        r#"{"v":1,"id":"s","messages":[{"role":"user","messageId":0,"content":[{"type":"text","text":"Look"}]},{"role":"assistant","messageId":1,"content":[{"type":"tool_use","id":"c1","name":"find","input":{"n":1}}]},{"role":"user","messageId":2,"content":[{"type":"tool_result","toolUseID":"c1","run":{"status":"done","result":"ok"}}]}]}
"#,
    ),
    (
        "goose",
        r#"{"working_dir":"/w","description":"x","message_count":3}
{"role":"user","created":1777888800,"content":[{"type":"text","text":"Look"}]}
{"role":"assistant","created":1777888801,"content":[{"type":"toolRequest","id":"c1","toolCall":{"status":"success","value":{"name":"find","arguments":{"n":1}}}}]}
{"role":"user","created":1777888802,"content":[{"type":"toolResponse","id":"c1","toolResult":{"status":"success","value":[{"type":"text","text":"ok"}]}}]}
"#,
    ),
    (
        "pi",
        r#"{"type":"session","version":3,"id":"s","timestamp":"2026-05-04T10:00:00.000Z","cwd":"/w"}
{"type":"message","id":"e1","parentId":null,"timestamp":"2026-05-04T10:00:01.000Z","message":{"role":"user","content":"Look"}}
{"type":"message","id":"e2","parentId":"e1","timestamp":"2026-05-04T10:00:02.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"find","arguments":{"n":1}}],"stopReason":"toolUse"}}
{"type":"message","id":"e3","parentId":"e2","timestamp":"2026-05-04T10:00:03.000Z","message":{"role":"toolResult","toolCallId":"c1","toolName":"find","content":[{"type":"text","text":"ok"}],"isError":false}}
"#,
    ),
    (
        "wink",
        r#"{"timestamp":"2026-05-04T10:00:01+00:00","level":"DEBUG","event":"transcript.entry","message":"transcript entry: user_message","context":{"prompt_name":"p","adapter":"claude_agent_sdk","entry_type":"user_message","sequence_number":1,"source":"main","timestamp":"2026-05-04T10:00:01+00:00","session_id":"s","detail":{"sdk_entry":{"type":"user","message":{"role":"user","content":"Look"}}}}}
{"timestamp":"2026-05-04T10:00:02+00:00","level":"DEBUG","event":"transcript.entry","message":"transcript entry: tool_use","context":{"prompt_name":"p","adapter":"claude_agent_sdk","entry_type":"tool_use","sequence_number":2,"source":"main","timestamp":"2026-05-04T10:00:02+00:00","session_id":"s","detail":{"sdk_entry":{"type":"tool_use","id":"c1","name":"find","input":{"n":1}}}}}
{"timestamp":"2026-05-04T10:00:03+00:00","level":"DEBUG","event":"transcript.entry","message":"transcript entry: tool_result","context":{"prompt_name":"p","adapter":"claude_agent_sdk","entry_type":"tool_result","sequence_number":3,"source":"main","timestamp":"2026-05-04T10:00:03+00:00","session_id":"s","detail":{"sdk_entry":{"type":"tool_result","tool_use_id":"c1","content":"ok"}}}}
"#,
    ),
    (
        "cursor-transcript",
        r#"{"role":"user","message":{"content":[{"type":"text","text":"Look"}]}}
{"role":"assistant","message":{"content":[{"type":"tool_use","name":"find","input":{"n":1}}]}}
{"type":"turn_ended","status":"success"}
"#,
    ),
    (
        "sharegpt",
        r#"{"id":"s","conversations":[{"from":"human","value":"Look"},{"from":"gpt","value":"<tool_call>\n{\"name\": \"find\", \"arguments\": {\"n\": 1}}\n</tool_call>"},{"from":"tool","value":"<tool_response>\n{\"name\": \"find\", \"content\": \"ok\"}\n</tool_response>"}]}
"#,
    ),
    (
        "vapi",
        r#"{"id":"s","orgId":"o","type":"webCall","status":"ended","messages":[{"role":"user","message":"Look","time":1777888801000,"secondsFromStart":1},{"role":"tool_calls","message":"","toolCalls":[{"id":"c1","type":"function","function":{"name":"find","arguments":"{\"n\":1}"}}],"time":1777888802000,"secondsFromStart":2},{"role":"tool_call_result","name":"find","toolCallId":"c1","result":"ok","time":1777888803000,"secondsFromStart":3}]}
"#,
    ),
    (
        "adk",
        r#"{"id":"s","appName":"desk","userId":"u","state":{},"events":[{"invocationId":"i1","author":"user","id":"e0","timestamp":1777888800.0,"content":{"parts":[{"text":"Look"}],"role":"user"}},{"invocationId":"i1","author":"desk","id":"e1","timestamp":1777888801.0,"content":{"parts":[{"functionCall":{"id":"c1","name":"find","args":{"n":1}}}],"role":"model"}},{"invocationId":"i1","author":"desk","id":"e2","timestamp":1777888802.0,"content":{"parts":[{"functionResponse":{"id":"c1","name":"find","response":{"output":"ok"}}}],"role":"user"}}]}
"#,
    ),
    (
        "pydantic-ai",
        r#"[{"kind":"request","parts":[{"part_kind":"user-prompt","content":"Look"}]},{"kind":"response","parts":[{"part_kind":"tool-call","tool_name":"find","args":{"n":1},"tool_call_id":"c1"}]},{"kind":"request","parts":[{"part_kind":"tool-return","tool_name":"find","content":"ok","tool_call_id":"c1"}]}]
"#,
    ),
    (
        "atif",
        r#"{"schema_version":"ATIF-v1.6","session_id":"s","agent":{"name":"desk","version":"1"},"steps":[{"step_id":1,"source":"user","message":"Look"},{"step_id":2,"source":"agent","message":"","tool_calls":[{"tool_call_id":"c1","function_name":"find","arguments":{"n":1}}],"observation":{"results":[{"source_call_id":"c1","content":"ok"}]}}]}
"#,
    ),
    (
        "managed-agents",
        r#"{"type":"user.message","id":"s0","content":[{"type":"text","text":"Look"}]}
{"type":"agent.custom_tool_use","id":"c1","name":"find","input":{"n":1}}
{"type":"user.custom_tool_result","id":"s2","custom_tool_use_id":"c1","content":[{"type":"text","text":"ok"}],"is_error":false}
"#,
    ),
    (
        "claude-export",
        r#"[{"uuid":"s","name":"Look","chat_messages":[{"uuid":"m1","sender":"human","text":"Look","content":[{"type":"text","text":"Look"}]},{"uuid":"m2","sender":"assistant","text":"","content":[{"type":"tool_use","id":"c1","name":"find","input":{"n":1}},{"type":"tool_result","tool_use_id":"c1","content":"ok","is_error":false}]}]}]
"#,
    ),
    (
        "vercel-ai",
        r#"{"id":"s","messages":[{"id":"m1","role":"user","parts":[{"type":"text","text":"Look"}]},{"id":"m2","role":"assistant","parts":[{"type":"step-start"},{"type":"tool-find","toolCallId":"c1","state":"output-available","input":{"n":1},"output":"ok"}]}]}
"#,
    ),
    (
        "gemini-api",
        r#"{"timestamp":"2026-05-04T10:00:01.000Z","request":{"contents":[{"role":"user","parts":[{"text":"Look"}]}],"tools":[{"functionDeclarations":[{"name":"find"}]}]},"response":{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"find","args":{"n":1}}}]},"finishReason":"STOP"}],"modelVersion":"m"}}
{"timestamp":"2026-05-04T10:00:02.000Z","request":{"contents":[{"role":"user","parts":[{"text":"Look"}]},{"role":"model","parts":[{"functionCall":{"name":"find","args":{"n":1}}}]},{"role":"user","parts":[{"functionResponse":{"name":"find","response":{"output":"ok"}}}]}],"tools":[{"functionDeclarations":[{"name":"find"}]}]},"response":{"candidates":[{"content":{"role":"model","parts":[{"text":"Done."}]},"finishReason":"STOP"}],"modelVersion":"m"}}
"#,
    ),
    (
        "gemini-cli",
        r#"{"sessionId":"s","projectHash":"p","startTime":"2026-05-04T10:00:00.000Z","lastUpdated":"2026-05-04T10:01:00.000Z","messages":[{"id":"m1","timestamp":"2026-05-04T10:00:00.000Z","type":"user","content":"Look"},{"id":"m2","timestamp":"2026-05-04T10:00:02.000Z","type":"gemini","content":"","toolCalls":[{"id":"c1","name":"find","args":{"n":1},"status":"success","result":[{"functionResponse":{"id":"c1","name":"find","response":{"output":"ok"}}}]}]}]}
"#,
    ),
    (
        "gemini-stream",
        r#"{"type":"init","timestamp":"2026-05-04T10:00:00.000Z","session_id":"s","model":"auto"}
{"type":"message","timestamp":"2026-05-04T10:00:00.100Z","role":"user","content":"Look"}
{"type":"tool_use","timestamp":"2026-05-04T10:00:02.000Z","tool_name":"find","tool_id":"c1","parameters":{"n":1}}
{"type":"tool_result","timestamp":"2026-05-04T10:00:03.000Z","tool_id":"c1","status":"success","output":"ok"}
{"type":"result","timestamp":"2026-05-04T10:00:05.000Z","status":"success","stats":{}}
"#,
    ),
    (
        "langsmith",
        r#"{"id":"r1","name":"agent","run_type":"chain","trace_id":"r1","parent_run_id":null,"start_time":"2026-05-04T10:00:00","end_time":"2026-05-04T10:00:09","inputs":{"messages":[{"role":"user","content":"Look"}]},"outputs":{},"status":"success"}
{"id":"r2","name":"model","run_type":"llm","trace_id":"r1","parent_run_id":"r1","start_time":"2026-05-04T10:00:01","end_time":"2026-05-04T10:00:02","inputs":{"messages":[{"role":"user","content":"Look"}]},"outputs":{"choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"find","arguments":"{\"n\":1}"}}]}}]}}
{"id":"r3","name":"find","run_type":"tool","trace_id":"r1","parent_run_id":"r1","start_time":"2026-05-04T10:00:03","end_time":"2026-05-04T10:00:04","inputs":{"n":1},"outputs":{"output":"ok"},"status":"success","extra":{"tool_call_id":"c1"}}
"#,
    ),
    (
        "langfuse",
        r#"{"id":"t1","projectId":"p","timestamp":"2026-05-04T10:00:00.000Z","name":"agent","observations":[{"id":"o1","traceId":"t1","type":"GENERATION","name":"model","startTime":"2026-05-04T10:00:01.000Z","endTime":"2026-05-04T10:00:02.000Z","input":[{"role":"user","content":"Look"}],"output":{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"find","arguments":"{\"n\":1}"}}]}},{"id":"o2","traceId":"t1","type":"TOOL","name":"find","startTime":"2026-05-04T10:00:03.000Z","endTime":"2026-05-04T10:00:04.000Z","input":{"n":1},"output":"ok","metadata":{"tool_call_id":"c1"}}]}
"#,
    ),
    (
        "openai-agents",
        r#"{"object":"trace","id":"t1","workflow_name":"desk","group_id":null,"metadata":null}
{"object":"trace.span","id":"s1","trace_id":"t1","parent_id":null,"started_at":"2026-05-04T10:00:01+00:00","ended_at":"2026-05-04T10:00:02+00:00","span_data":{"type":"generation","model":"m","input":[{"role":"user","content":"Look"}],"output":[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"find","arguments":"{\"n\": 1}"}}]}]},"error":null}
{"object":"trace.span","id":"s2","trace_id":"t1","parent_id":null,"started_at":"2026-05-04T10:00:03+00:00","ended_at":"2026-05-04T10:00:04+00:00","span_data":{"type":"function","name":"find","input":"{\"n\": 1}","output":"ok"},"error":null}
"#,
    ),
    (
        "mlflow",
        r#"{"info":{"trace_id":"tr-1","state":"OK","trace_metadata":{},"tags":{}},"data":{"spans":[{"trace_id":"t1","span_id":"s1","parent_span_id":null,"name":"Completions","start_time_unix_nano":1777888800000000000,"end_time_unix_nano":1777888800000000005,"events":[],"status":{"code":"STATUS_CODE_OK","message":""},"attributes":{"mlflow.spanType":"\"CHAT_MODEL\"","mlflow.spanInputs":"{\"messages\":[{\"role\":\"user\",\"content\":\"Look\"}]}","mlflow.spanOutputs":"{\"choices\":[{\"index\":0,\"finish_reason\":\"tool_calls\",\"message\":{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"find\",\"arguments\":\"{\\\"n\\\": 1}\"}}]}}]}"}},{"trace_id":"t1","span_id":"s2","parent_span_id":null,"name":"find","start_time_unix_nano":1777888800000000010,"end_time_unix_nano":1777888800000000015,"events":[],"status":{"code":"STATUS_CODE_OK","message":""},"attributes":{"mlflow.spanType":"\"TOOL\"","mlflow.spanInputs":"{\"n\":1}","mlflow.spanOutputs":"\"ok\""}}]}}
"#,
    ),
    (
        "otel",
        r#"{"trace_id":"t1","span_id":"1","name":"chat","startTimeUnixNano":"1777888800000000000","endTimeUnixNano":"1777888800010000000","attributes":{"gen_ai.operation.name":"chat","gen_ai.response.finish_reasons":["tool_calls"],"gen_ai.completion.0.role":"assistant","gen_ai.completion.0.tool_calls.0.id":"c1","gen_ai.completion.0.tool_calls.0.name":"find","gen_ai.completion.0.tool_calls.0.arguments":"{\"n\": 1}"}}
{"trace_id":"t1","span_id":"2","name":"execute_tool find","startTimeUnixNano":"1777888800020000000","endTimeUnixNano":"1777888800030000000","attributes":{"gen_ai.operation.name":"execute_tool","gen_ai.tool.name":"find","gen_ai.tool.call.id":"c1","gen_ai.tool.call.arguments":"{\"n\": 1}","gen_ai.tool.call.result":"ok"}}
"#,
    ),
    (
        "jaeger",
        r#"{"data":[{"traceID":"t1","spans":[{"traceID":"t1","spanID":"1","operationName":"chat","references":[],"startTime":1777888800010000,"duration":1000,"tags":[{"key":"gen_ai.operation.name","type":"string","value":"chat"},{"key":"gen_ai.completion.0.role","type":"string","value":"assistant"},{"key":"gen_ai.completion.0.content","type":"string","value":"I look."}],"logs":[],"processID":"p1","warnings":null},{"traceID":"t1","spanID":"2","operationName":"execute_tool find","references":[],"startTime":1777888800030000,"duration":5000,"tags":[{"key":"gen_ai.operation.name","type":"string","value":"execute_tool"},{"key":"gen_ai.tool.name","type":"string","value":"find"},{"key":"gen_ai.tool.call.id","type":"string","value":"c1"},{"key":"gen_ai.tool.call.arguments","type":"string","value":"{}"},{"key":"gen_ai.tool.call.result","type":"string","value":"ok"}],"logs":[],"processID":"p1","warnings":null}],"processes":{"p1":{"serviceName":"desk","tags":[]}},"warnings":null}],"total":0,"limit":0,"offset":0,"errors":null}
"#,
    ),
    (
        "acp",
        r#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"Look"}]}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c1","name":"find","title":"Find","kind":"search","status":"pending","rawInput":{"n":1}}}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed","content":[{"type":"content","content":{"type":"text","text":"ok"}}]}}}
{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}
"#,
    ),
    (
        "mcp",
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","clientInfo":{"name":"desk","version":"1"}}}
{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","serverInfo":{"name":"files","version":"2"}}}
{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find","arguments":{"n":1}}}
{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"ok"}],"isError":false}}
"#,
    ),
    (
        "inspect",
        r#"{"version":2,"status":"success","eval":{"eval_id":"e1","run_id":"r1","task":"desk","model":"m","dataset":{}},"plan":{},"samples":[{"id":7,"epoch":1,"input":"Look","target":"","messages":[{"id":"m1","role":"user","content":"Look"},{"id":"m2","role":"assistant","content":"","tool_calls":[{"id":"c1","function":"find","arguments":{"n":1},"type":"function"}]},{"id":"m3","role":"tool","tool_call_id":"c1","function":"find","content":"ok"}],"output":{"model":"m","choices":[{"message":{"id":"m2","role":"assistant","content":"","tool_calls":[{"id":"c1","function":"find","arguments":{"n":1},"type":"function"}]},"stop_reason":"tool_calls"}]}}]}
"#,
    ),
    (
        "assay",
        r#"{"type":"episode_start","episode_id":"s","timestamp":1777888800000,"input":{"prompt":"Look"}}
{"type":"step","episode_id":"s","step_id":"s1","idx":0,"timestamp":1777888801000,"kind":"tool","name":"find"}
{"type":"tool_call","episode_id":"s","step_id":"s1","timestamp":1777888802000,"tool_name":"find","call_index":0,"args":{"n":1},"result":"ok","error":null}
{"type":"step","episode_id":"s","step_id":"s2","idx":1,"timestamp":1777888803000,"kind":"tool","name":"late"}
{"type":"episode_end","episode_id":"s","timestamp":1777888806000,"final_output":"Done."}
"#,
    ),
    (
        "agentfootprint",
        r#"{"runId":"s","commits":[],"events":[{"type":"agentfootprint.agent.turn_start","payload":{"turnIndex":0,"userPrompt":"Look"},"meta":{"wallClockMs":1777888800000,"runId":"s"}},{"type":"agentfootprint.stream.llm_end","payload":{"iteration":1,"content":"","toolCallCount":1},"meta":{"wallClockMs":1777888800003,"runId":"s"}},{"type":"agentfootprint.stream.tool_start","payload":{"toolName":"find","toolCallId":"c1","args":{"n":1}},"meta":{"wallClockMs":1777888800004,"runId":"s"}},{"type":"agentfootprint.stream.tool_end","payload":{"toolCallId":"c1","result":"ok"},"meta":{"wallClockMs":1777888800005,"runId":"s"}}]}
"#,
    ),
    (
        "tau-bench",
        r#"[{"task_id":4,"trial":0,"reward":1.0,"info":{},"traj":[{"role":"user","content":"Look"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"find","arguments":"{\"n\": 1}"}}]},{"role":"tool","tool_call_id":"c1","name":"find","content":"ok"}]}]
"#,
    ),
    (
        "tau2",
        r#"{"task_id":3,"termination_reason":"agent_stop","reward_info":null,"messages":[{"role":"user","content":"Look"},{"role":"assistant","tool_calls":[{"id":"c1","name":"find","arguments":{"n":1}}]},{"role":"tool","id":"c1","content":"ok","error":false}]}
"#,
    ),
    (
        "swe-agent",
        r#"{"environment":"swe_main","trajectory":[{"action":"ls","observation":"ok","response":"Look.","state":"{}","thought":"Look."},{"action":"cat a","observation":"ok","response":"Read.","state":"{}","thought":"Read."}],"history":[],"info":{}}
"#,
    ),
    (
        "mini-swe-agent",
        r#"[{"role":"system","content":"Exactly ONE block:\n```mswea_bash_command\nyour command\n```"},{"role":"user","content":"Look"},{"role":"assistant","content":"Look.\n\n```mswea_bash_command\nls -la\n```"},{"role":"user","content":"<returncode>0</returncode>\n<output>\nok\n</output>"}]
"#,
    ),
    (
        "openhands",
        r#"[{"id":0,"timestamp":"2026-05-04T10:00:02","source":"user","message":"Look","action":"message","args":{"content":"Look","image_urls":null}},{"id":1,"timestamp":"2026-05-04T10:00:03","source":"agent","action":"run","args":{"command":"ls","thought":"Look."}},{"id":2,"timestamp":"2026-05-04T10:00:04","source":"agent","cause":1,"observation":"run","content":"ok","extras":{"command":"ls","metadata":{"exit_code":0}},"success":true}]
"#,
    ),
    (
        "agentdojo",
        r#"{"suite_name":"banking","pipeline_name":"m","user_task_id":"user_task_0","injection_task_id":null,"attack_type":null,"injections":{},"error":null,"utility":true,"security":true,"duration":1.5,"messages":[{"role":"user","content":[{"type":"text","content":"Look"}]},{"role":"assistant","content":null,"tool_calls":[{"function":"find","args":{"n":1},"id":"c1","placeholder_args":null}]},{"role":"tool","content":[{"type":"text","content":"ok"}],"tool_call_id":"c1","tool_call":{"function":"find","args":{"n":1},"id":"c1"},"error":null}]}
"#,
    ),
    (
        "langchain",
        r#"[{"type":"human","data":{"content":"Look","type":"human"}},{"type":"ai","data":{"content":"","type":"ai","response_metadata":{"finish_reason":"tool_calls"},"tool_calls":[{"name":"find","args":{"n":1},"id":"c1","type":"tool_call"}]}},{"type":"tool","data":{"content":"ok","type":"tool","tool_call_id":"c1","status":"success"}}]
"#,
    ),
    (
        "bedrock",
        r#"{"request":{"modelId":"m","messages":[{"role":"user","content":[{"text":"Look"}]}]},"response":{"output":{"message":{"role":"assistant","content":[{"toolUse":{"toolUseId":"c1","name":"find","input":{"n":1}}}]}},"stopReason":"tool_use","usage":{"inputTokens":1}}}
{"request":{"modelId":"m","messages":[{"role":"user","content":[{"text":"Look"}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"c1","name":"find","input":{"n":1}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"c1","content":[{"text":"ok"}],"status":"success"}}]}]},"response":{"output":{"message":{"role":"assistant","content":[{"text":"Done."}]}},"stopReason":"end_turn","usage":{"inputTokens":1}}}
"#,
    ),
    (
        "anthropic",
        r#"{"request":{"model":"m","max_tokens":100,"messages":[{"role":"user","content":"Look"}]},"response":{"id":"m1","type":"message","role":"assistant","content":[{"type":"tool_use","id":"c1","name":"find","input":{"n":1}}],"stop_reason":"tool_use"}}
{"request":{"model":"m","max_tokens":100,"messages":[{"role":"user","content":"Look"},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"find","input":{"n":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"ok"}]}]},"response":{"id":"m2","type":"message","role":"assistant","content":[{"type":"text","text":"Done."}],"stop_reason":"end_turn"}}
"#,
    ),
    (
        "openai-responses",
        r#"{"request":{"model":"m","input":"Look"},"response":{"id":"r1","object":"response","created_at":1777888800,"output":[{"type":"function_call","id":"f1","call_id":"c1","name":"find","arguments":"{\"n\": 1}"}]}}
{"request":{"model":"m","previous_response_id":"r1","input":[{"type":"function_call_output","call_id":"c1","output":"ok"}]},"response":{"id":"r2","object":"response","created_at":1777888805,"previous_response_id":"r1","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}]}}
"#,
    ),
    (
        "openai-chat",
        r#"{"request":{"model":"m","messages":[{"role":"user","content":"Look"}]},"response":{"id":"r1","object":"chat.completion","created":1777888800,"choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"find","arguments":"{\"n\": 1}"}}]}}]}}
{"request":{"model":"m","messages":[{"role":"user","content":"Look"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"find","arguments":"{\"n\": 1}"}}]},{"role":"tool","tool_call_id":"c1","content":"ok"}]},"response":{"id":"r2","object":"chat.completion","created":1777888801,"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Done."}}]}}
"#,
    ),
    (
        "native",
        r#"{"id":"s","messages":[{"role":"user","content":"Look"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"find","arguments":"{\"n\": 1}"}}]},{"role":"tool","tool_call_id":"c1","content":"ok"}]}
"#,
    ),
];

/// What is put in the place of the first text that is the same.
type Edit = (&'static str, &'static str);
/// A format, what is done to its recording, and what is lost then.
type Row = (&'static str, Edit, Option<Loss>);

const CALLS: Option<Loss> = Some(Loss::MayHoldCalls);
const HARMLESS: Option<Loss> = Some(Loss::Harmless);

const ROWS: &[Row] = &[
    ("pi", (r#"[{"type":"toolCall""#, r#"[{"type":7"#), CALLS),
    ("wink", (r#""entry_type":"tool_use""#, r#""entry_type":"tool_asked""#), CALLS),
    ("sharegpt", (r#""from":"gpt""#, r#""from":7"#), CALLS),
    ("mlflow", (r#""mlflow.spanType":"\"CHAT_MODEL\"""#, r#""mlflow.spanType":"7""#), CALLS),
    ("gemini-api", (r#""content":{"role":"model","parts":[{"text":"Done."}]}"#, r#""content":7"#), CALLS),
    ("vscode-chat", (r#""toolCalls":["#, r#""toolCalls":7,"x":["#), CALLS),
    ("cline", (r#"[{"type":"tool_use""#, r#"[{"type":7"#), CALLS),
    ("claude-export", (r#"{"type":"tool_use""#, r#"{"type":7"#), CALLS),
    ("managed-agents", (r#""type":"agent.custom_tool_use""#, r#""type":"agent.custom_tool_ask""#), CALLS),
    ("atif", (r#""tool_calls":["#, r#""tool_calls":7,"x":["#), CALLS),
    ("pydantic-ai", (r#"{"part_kind":"tool-call""#, r#"{"part_kind":7"#), CALLS),
    ("adk", (r#""functionCall":{"#, r#""functionCall":7,"x":{"#), CALLS),
    ("vapi", (r#""toolCalls":["#, r#""toolCalls":7,"x":["#), CALLS),
    ("cursor-transcript", (r#"[{"type":"tool_use""#, r#"[{"type":7"#), CALLS),
    ("goose", (r#"{"type":"toolRequest""#, r#"{"type":7"#), CALLS),
    ("amp", (r#"{"type":"tool_use","id":"c1""#, r#"{"type":7,"id":"c1""#), CALLS),
    ("opencode", (r#""type":"tool""#, r#""type":7"#), CALLS),
    ("copilot-cli", (r#""name":"find""#, r#""name":7"#), CALLS),
    ("rulestep-live", (r#""tool":"find""#, r#""tool":7"#), CALLS),
    ("rulestep-live", (r#""record":"proposed""#, r#""record":"prop""#), CALLS),
    ("claude-code", (r#"[{"type":"tool_use","#, r#"[{"type":7,"#), CALLS),
    ("qwen-code", (r#""functionCall":{"#, r#""functionCall":7,"x":{"#), CALLS),
    ("cursor-agent", (r#""tool_call":{"readToolCall""#, r#""tool_call":[],"x":{"readToolCall""#), CALLS),
    ("codex-rollout", (r#""name":"find""#, r#""name":7"#), CALLS),
    ("codex-exec", (r#""item":{"id":"i1""#, r#""item":7,"x":{"id":"i1""#), CALLS),
    ("vercel-ai", (r#"{"type":"tool-find""#, r#"{"type":7"#), CALLS),
    ("vercel-ai", (r#"{"id":"s","messages""#, r#"{"finishReason":"stop","id":"s","messages""#), None),
    ("gemini-cli", (r#""toolCalls":["#, r#""toolCalls":7,"x":["#), CALLS),
    ("gemini-stream", (r#""tool_name":"find""#, r#""tool_name":7"#), CALLS),
    ("langsmith", (r#""run_type":"tool","#, r#""run_type":7,"#), CALLS),
    ("langfuse", (r#""observations":["#, r#""observations":7,"x":["#), CALLS),
    (
        "openai-agents",
        (r#""span_data":{"type":"function""#, r#""span_data":7,"x":{"type":"function""#),
        CALLS,
    ),
    ("otel", (r#""gen_ai.tool.name":"find","gen_ai.tool.call.id":"c1","#, r#""gen_ai.tool.name":7,"#), CALLS),
    ("jaeger", (r#""spans":["#, r#""spans":7,"x":["#), CALLS),
    ("acp", (r#""toolCallId":"c1","name":"find""#, r#""toolCallId":[],"name":"find""#), CALLS),
    ("acp", (r#""sessionUpdate":"tool_call","#, r#""sessionUpdate":7,"#), CALLS),
    ("mcp", (r#""params":{"name":"find""#, r#""params":{"name":7"#), CALLS),
    ("inspect", (r#""tool_calls":[{"#, r#""tool_calls":7,"x":[{"#), CALLS),
    ("assay", (r#""kind":"tool","name":"late""#, r#""kind":"tool""#), CALLS),
    ("assay", (r#""kind":"tool","name":"late""#, r#""kind":"tool","name":"""#), CALLS),
    ("assay", (r#""kind":"tool","name":"late""#, r#""name":"late""#), CALLS),
    ("agentfootprint", (r#""toolName":"find""#, r#""toolName":7"#), CALLS),
    ("tau-bench", (r#""tool_calls":[{"#, r#""tool_calls":7,"x":[{"#), CALLS),
    ("tau2", (r#""tool_calls":[{"#, r#""tool_calls":7,"x":[{"#), CALLS),
    ("swe-agent", (r#"{"action":"cat a""#, r#"{"action":["cat"]"#), CALLS),
    (
        "mini-swe-agent",
        (r#"{"role":"assistant","content":"Look"#, r#"{"role":"assistant","content":7,"x":"Look"#),
        CALLS,
    ),
    ("openhands", (r#""source":"agent","action":"run""#, r#""source":"agent","action":7"#), CALLS),
    ("agentdojo", (r#""tool_calls":[{"#, r#""tool_calls":7,"x":[{"#), CALLS),
    ("langchain", (r#""tool_calls":[{"#, r#""tool_calls":7,"x":[{"#), CALLS),
    ("bedrock", (r#"{"toolUse":{"#, r#"{"toolUse":7,"x":{"#), CALLS),
    ("anthropic", (r#"[{"type":"tool_use","#, r#"[{"type":7,"#), CALLS),
    ("openai-responses", (r#"{"type":"function_call","#, r#"{"type":7,"#), CALLS),
    ("openai-chat", (r#""message":{"role":"assistant","content":"Done."}"#, r#""message":7"#), CALLS),
    (
        "codex-rollout",
        (
            r#"{"timestamp":"2026-05-04T10:00:02.000Z""#,
            r#"{"timestamp":"2026-05-04T10:00:01.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":null,"function_call":{"name":"shell","arguments":"{}"}}}
{"timestamp":"2026-05-04T10:00:02.000Z""#,
        ),
        CALLS,
    ),
    ("native", (r#""tool_calls":[{"#, r#""tool_calls":7,"x":[{"#), CALLS),
    // Nobody, or a stranger, says what the model said; `null` has the place of messages.
    ("tau2", (r#""role":"assistant","#, r#""role":"","#), CALLS),
    ("tau2", (r#""role":"assistant","#, r#""role":"stranger","#), CALLS),
    ("mini-swe-agent", (r#""role":"assistant","content":"Look"#, r#""role":"","content":"Look"#), CALLS),
    (
        "mini-swe-agent",
        (r#""role":"assistant","content":"Look"#, r#""role":"stranger","content":"Look"#),
        CALLS,
    ),
    ("native", (r#""role":"user","#, r#""role":"","#), CALLS),
    ("native", (r#""role":"user","#, r#""role":"critic","#), None),
    ("gemini-cli", (r#""toolCalls":["#, r#""toolCalls":null,"x":["#), CALLS),
    ("tau2", (r#""messages":["#, r#""messages":null,"x":["#), CALLS),
    ("vercel-ai", (r#""parts":["#, r#""parts":null,"x":["#), CALLS),
    ("native", (r#""messages":["#, r#""messages":null,"x":["#), CALLS),
    // The next request repeats the call.
    ("openai-chat", (r#""tool_calls":[{"#, r#""x":[{"#), None),
    ("anthropic", (r#"[{"type":"tool_use","id":"c1","name":"find","input":{"n":1}}]"#, "[]"), None),
    ("bedrock", (r#"[{"toolUse":{"toolUseId":"c1","name":"find","input":{"n":1}}}]"#, "[]"), None),
    // It ended to call a tool, and no call is there.
    ("openai-chat", (r#""finish_reason":"stop""#, r#""finish_reason":"tool_calls""#), CALLS),
    (
        "openai-chat",
        (
            r#""content":"Done."}}"#,
            r#""content":"Done."}},{"index":1,"finish_reason":"tool_calls","message":{"role":"assistant","content":"Or"}}"#,
        ),
        CALLS,
    ),
    ("anthropic", (r#""stop_reason":"end_turn""#, r#""stop_reason":"tool_use""#), CALLS),
    ("bedrock", (r#""stopReason":"end_turn""#, r#""stopReason":"tool_use""#), CALLS),
    ("langchain", (r#""tool_calls":[{"#, r#""x":[{"#), CALLS),
    ("langchain", (r#","response_metadata":{"finish_reason":"tool_calls"}"#, ""), None),
    (
        "inspect",
        (
            r#""tool_calls":[{"id":"c1","function":"find","arguments":{"n":1},"type":"function"}]},"stop_reason""#,
            r#""tool_calls":null},"stop_reason""#,
        ),
        CALLS,
    ),
    (
        "otel",
        (
            r#"{"trace_id":"t1","span_id":"1""#,
            r#"{"trace_id":"t1","span_id":"0","name":"chat","startTimeUnixNano":"1777888700000000000","endTimeUnixNano":"1777888700010000000","attributes":{"gen_ai.operation.name":"chat","gen_ai.response.finish_reasons":["tool_calls"]}}
{"trace_id":"t1","span_id":"1""#,
        ),
        CALLS,
    ),
    (
        "otel",
        (
            r#"{"trace_id":"t1","span_id":"1""#,
            r#"{"trace_id":"t1","span_id":"0","name":"ai.generateText.doGenerate","startTimeUnixNano":"1777888700000000000","endTimeUnixNano":"1777888700010000000","attributes":{"ai.operationId":"ai.generateText.doGenerate","gen_ai.system":"openai","gen_ai.request.model":"m","ai.response.text":"I look.","ai.response.finishReason":"tool-calls"}}
{"trace_id":"t1","span_id":"1""#,
        ),
        CALLS,
    ),
    (
        "langsmith",
        (
            r#"{"id":"r2","#,
            r#"{"id":"r0","name":"model","run_type":"llm","trace_id":"r1","parent_run_id":"r1","start_time":"2026-05-04T10:00:00.1","end_time":"2026-05-04T10:00:00.2","inputs":{"messages":[{"role":"user","content":"Look"}]},"outputs":{"choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","content":"x"}}]}}
{"id":"r2","#,
        ),
        CALLS,
    ),
    (
        "vercel-ai",
        (
            r#"{"id":"s","messages":[{"id":"m1""#,
            r#"{"finishReason":"tool-calls","response":{"messages":[{"role":"assistant","content":[{"type":"text","text":"x"}]}]},"messages":[{"id":"m1""#,
        ),
        CALLS,
    ),
    // What cannot hold a call that was made.
    (
        "claude-code",
        (
            r#"{"type":"assistant""#,
            r#"{"type":"user","sessionId":"s","uuid":"u1","parentUuid":null,"message":{"role":"user","content":"Look"}}
{"type":"assistant""#,
        ),
        HARMLESS,
    ),
    (
        "qwen-code",
        (
            r#"{"uuid":"a1""#,
            r#"{"uuid":"u1","parentUuid":null,"sessionId":"s","timestamp":"2026-05-04T10:00:01.000Z","type":"user","cwd":"/","version":"0.24.7","message":{"role":"user","parts":[{"text":"Look"}]}}
{"uuid":"a1""#,
        ),
        HARMLESS,
    ),
    (
        "openhands",
        (
            r#"{"id":1,"#,
            r#"{"id":9,"timestamp":"2026-05-04T10:00:02","source":"user","action":"run","args":{"command":"whoami"}},{"id":1,"#,
        ),
        HARMLESS,
    ),
    (
        "mini-swe-agent",
        (
            r#"{"role":"assistant","content":"Look"#,
            r#"{"role":"assistant","content":"```mswea_bash_command\na\n```\n```mswea_bash_command\nb\n```"},{"role":"user","content":"One."},{"role":"assistant","content":"Look"#,
        ),
        HARMLESS,
    ),
    ("native", (r#"{"id":"s","#, r#"{"id":"s","tools":[{"name":"find"},7],"#), HARMLESS),
    (
        "swe-agent",
        (
            r#","history":[]"#,
            r#","history":[{"role":"assistant","content":"Look.","agent":"main","action":"ls","tool_calls":[{"id":"1","function":{"name":"bash","arguments":"{\"command\": \"ls\"}"}}]},{"role":"tool","content":"ok","agent":"main","tool_call_ids":["1"]}]"#,
        ),
        None,
    ),
];

fn clean(format: &str) -> &'static str {
    CLEAN.iter().find(|(name, _)| *name == format).unwrap().1
}

fn worst(text: &str, format: &str) -> Option<Loss> {
    let options = Options { format: recording::named(format), ..Options::default() };
    let (sessions, of_file) = opened_with(text, &options);
    let told = sessions.iter().flat_map(|session| &session.diagnostics).chain(&of_file);
    let all: Vec<_> = told.filter_map(|told| told.loss).collect();
    let worst = |loss: &&Loss| **loss == Loss::MayHoldCalls;
    all.iter().find(worst).or(all.first()).copied()
}

#[test]
fn a_clean_recording_of_each_format_loses_nothing() {
    let formats: Vec<_> = FORMATS.iter().map(|format| format.name).collect();
    assert_eq!(CLEAN.iter().map(|(format, _)| *format).collect::<Vec<_>>(), formats);
    for (format, text) in CLEAN {
        let (sessions, _) = opened(*text);
        assert_eq!(losses(text), [], "{format}");
        assert!(sessions.iter().all(|session| *session.origin.format == **format), "{format}");
        assert!(sessions.iter().any(|session| !session.calls.is_empty()), "{format}");
    }
}

#[test]
fn what_is_lost_shows_in_how_replay_ends() {
    let mut met = BTreeSet::new();
    let mut wrong = Vec::new();
    for (format, (from, to), expected) in ROWS {
        let whole = clean(format);
        let text = whole.replacen(from, to, 1);
        assert_ne!(text, whole, "{format}: {from}");
        let found = worst(&text, format);
        let folder = folder(&[("s.jsonl", &text), ("p.yaml", "tool: find\nforbids_after: [nothing]\n")]);
        let mut run = rulestep(folder.path(), &["replay", "-q", "s.jsonl", "-p", "p.yaml", "--from", format]);
        let code = run.output().unwrap().status.code();
        let ends = if *expected == CALLS { 2 } else { 0 };
        if (found, code) != (*expected, Some(ends)) {
            wrong.push(format!("{format}: {to}: {found:?} and {code:?}, not {expected:?} and {ends}"));
        }
        met.extend(expected.filter(|loss| *loss == Loss::MayHoldCalls).map(|_| *format));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(met.len(), FORMATS.len(), "each format has a row of calls that are lost");
}
