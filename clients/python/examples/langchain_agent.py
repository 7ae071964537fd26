"""Tools of a LangChain agent, decided by a gate: pip install langchain

agent = create_agent(model, tools, middleware=[Rulestep(session)])
"""

from typing import Any, Callable

from langchain.agents.middleware import AgentMiddleware
from langchain.messages import ToolMessage

from rulestep import Denied, Session


class Rulestep(AgentMiddleware):
    """Has the gate decide every call. A denied call gives the model the reason."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session

    def after_model(self, state: Any, runtime: Any) -> None:
        """The calls that follow belong to this response."""
        self.session.turn()

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        call = request.tool_call
        decision = self.session.propose(call["name"], call["args"], id=call["id"])
        try:
            self.session.admit(decision)
        except Denied as denied:
            return ToolMessage(content=denied.reason, tool_call_id=call["id"], status="error")
        try:
            answer = handler(request)
        except Exception as error:
            self.session.ended(decision, str(error), "error")
            raise
        failed = getattr(answer, "status", "success") == "error"
        self.session.ended(decision, getattr(answer, "content", answer), "error" if failed else "ok")
        return answer
