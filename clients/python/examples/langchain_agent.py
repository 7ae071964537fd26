"""Tools of a LangChain agent, decided by a gate: pip install langchain

agent = create_agent(model, tools, middleware=[Rulestep(session)])      # for `invoke` and `ainvoke`
"""

from typing import Any, Awaitable, Callable, Optional

from langchain.agents.middleware import AgentMiddleware
from langchain.messages import ToolMessage

from rulestep import Decision, Denied, Session


class Rulestep(AgentMiddleware):
    """Has the gate decide every call. A denied call gives the model the reason."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session

    def after_model(self, state: Any, runtime: Any) -> None:
        """The calls that follow belong to this response."""
        self.session.turn()

    async def aafter_model(self, state: Any, runtime: Any) -> None:
        self.after_model(state, runtime)

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        decision, denied = self._decided(request.tool_call)
        if denied is not None:
            return denied
        try:
            answer = handler(request)
        except BaseException as error:
            self._raised(decision, error)
            raise
        return self._ended(decision, answer)

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        decision, denied = self._decided(request.tool_call)
        if denied is not None:
            return denied
        try:
            answer = await handler(request)
        except BaseException as error:
            self._raised(decision, error)
            raise
        return self._ended(decision, answer)

    def _decided(self, call: Any) -> "tuple[Decision, Optional[ToolMessage]]":
        """What is decided, and what the model reads if the call must not run."""
        decision = self.session.propose(call["name"], call["args"], id=call["id"])
        try:
            self.session.admit(decision)
        except Denied as denied:
            return decision, ToolMessage(content=denied.reason, tool_call_id=call["id"], status="error")
        return decision, None

    def _raised(self, decision: Decision, error: BaseException) -> None:
        """A call that is cancelled did not succeed either."""
        self.session.ended(decision, str(error) or type(error).__name__, "error")

    def _ended(self, decision: Decision, answer: Any) -> Any:
        failed = getattr(answer, "status", "success") == "error"
        self.session.ended(decision, getattr(answer, "content", answer), "error" if failed else "ok")
        return answer
