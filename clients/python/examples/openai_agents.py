"""Tools of the OpenAI Agents SDK, decided by a gate: pip install openai-agents"""

import json
from typing import Any

from agents import (
    Agent,
    FunctionTool,
    RunHooks,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrailData,
    ToolOutputGuardrailData,
    tool_input_guardrail,
    tool_output_guardrail,
)

from rulestep import Denied, Session


def guarded(tools: list[FunctionTool], session: Session) -> list[FunctionTool]:
    """Has the gate decide every call to these tools. A denied call gives the model the reason."""
    decided: dict[str, Any] = {}

    @tool_input_guardrail
    def before(data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
        call = data.context
        arguments = json.loads(call.tool_arguments or "{}")
        decision = session.propose(call.tool_name, arguments, id=call.tool_call_id)
        try:
            session.admit(decision)
        except Denied as denied:
            return ToolGuardrailFunctionOutput.reject_content(denied.reason)
        decided[call.tool_call_id] = decision
        return ToolGuardrailFunctionOutput.allow()

    @tool_output_guardrail
    def after(data: ToolOutputGuardrailData) -> ToolGuardrailFunctionOutput:
        decision = decided.pop(data.context.tool_call_id, None)
        if decision is not None:
            session.ended(decision, data.output)
        return ToolGuardrailFunctionOutput.allow()

    for tool in tools:
        tool.tool_input_guardrails = [before, *(tool.tool_input_guardrails or [])]
        tool.tool_output_guardrails = [after, *(tool.tool_output_guardrails or [])]
    return tools


class Turns(RunHooks):
    """Tells the gate of each response: Runner.run(agent, text, hooks=Turns(session))."""

    def __init__(self, session: Session) -> None:
        self.session = session

    async def on_llm_end(self, context: Any, agent: Agent, response: Any) -> None:
        self.session.turn([tool.name for tool in agent.tools])
