"""Tools of the OpenAI Agents SDK, decided by a gate: pip install openai-agents"""

import copy
import json
from typing import Any

from agents import Agent, FunctionTool, RunHooks
from agents.tool import maybe_invoke_function_tool_failure_error_function, set_function_tool_failure_error_function
from agents.tool_context import ToolContext

from rulestep import Denied, Session


def guarded(tools: list[FunctionTool], session: Session) -> list[FunctionTool]:
    """These tools, with every call decided by the gate. A denied call gives the model the reason."""
    return [_guarded(tool, session) for tool in tools]


def _guarded(tool: FunctionTool, session: Session) -> FunctionTool:
    # The SDK turns what a tool raises into a text for the model, which looks like any other result. This copy raises.
    raising = set_function_tool_failure_error_function(copy.copy(tool), None)

    async def invoke(context: ToolContext[Any], arguments: str) -> Any:
        decision = session.propose(context.tool_name, _parsed(arguments), id=context.tool_call_id)
        try:
            session.admit(decision)
        except Denied as denied:
            return denied.reason
        try:
            output = await raising.on_invoke_tool(context, arguments)
        except BaseException as error:
            # A call that is cancelled, as one is that takes too long, did not succeed either.
            session.ended(decision, str(error) or type(error).__name__, "error")
            if not isinstance(error, Exception):
                raise
            told = await maybe_invoke_function_tool_failure_error_function(
                function_tool=tool, context=context, error=error
            )
            if told is None:
                raise
            return told
        session.ended(decision, output)
        return output

    guarded_tool = copy.copy(tool)
    guarded_tool.on_invoke_tool = invoke
    return guarded_tool


def _parsed(arguments: str) -> Any:
    try:
        return json.loads(arguments or "{}")
    except ValueError:
        return arguments


class Turns(RunHooks):
    """Tells the gate of each response: Runner.run(agent, text, hooks=Turns(session))."""

    def __init__(self, session: Session) -> None:
        self.session = session

    async def on_llm_end(self, context: Any, agent: Agent, response: Any) -> None:
        self.session.turn([tool.name for tool in agent.tools])
