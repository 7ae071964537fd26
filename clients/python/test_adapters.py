"""python3 -m unittest, with the program's path in RULESTEP. Each adapter is tested where its framework is installed."""

import asyncio
import importlib.util
import os
import sys
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from rulestep import Gate

sys.path.append(str(Path(__file__).parent / "examples"))
PROGRAM = os.environ.get("RULESTEP", "rulestep")
POLICY = "tool: push\npreconditions:\n  - {requires_prior_tool: test, description: Tests run before a push}\n"


def is_there(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


class Adapter(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        os.environ["XDG_STATE_HOME"] = folder.name
        policy = self.folder / "policy.yaml"
        policy.write_text(POLICY)
        gate = Gate(str(policy), program=PROGRAM)
        self.addCleanup(gate.close)
        self.session = gate.session("a")

    def outcomes(self) -> "list[str]":
        journal = (self.folder / "rulestep/live/host/a.jsonl").read_text().splitlines()
        return [line.split('"outcome":"')[1].split('"')[0] for line in journal if '"outcome":"' in line]


@unittest.skipUnless(is_there("agents"), "the OpenAI Agents SDK is not installed")
class OpenAIAgents(Adapter):
    def test_a_failed_tool_satisfies_nothing(self) -> None:
        from agents import function_tool
        from agents.tool import invoke_function_tool
        from agents.tool_context import ToolContext
        from openai_agents import guarded

        pushed = []

        async def test(how: str) -> str:
            if how == "raise":
                raise RuntimeError("2 tests failed")
            await asyncio.sleep(5 if how == "hang" else 0)
            return "all passed"

        def push() -> str:
            pushed.append(1)
            return "pushed"

        tools = {tool.name: tool for tool in guarded([function_tool(test, timeout=0.3), function_tool(push)], self.session)}

        def call(name: str, arguments: str = "{}") -> str:
            self.session.turn()
            id = f"call-{name}-{arguments}-{len(pushed)}"
            context: Any = ToolContext(context=None, tool_name=name, tool_call_id=id, tool_arguments=arguments)
            return str(asyncio.run(invoke_function_tool(function_tool=tools[name], context=context, arguments=arguments)))

        # Raised, cancelled when its time was over, or never begun: the model reads a text each time, and nothing is satisfied.
        for arguments in ['{"how": "raise"}', '{"how": "hang"}', '{"no": 1}', "not JSON"]:
            self.assertNotIn("all passed", call("test", arguments))
            self.assertIn("Tests run before a push", call("push"))
        self.assertEqual((pushed, self.outcomes()), ([], ["error"] * 4))
        self.assertEqual((call("test", '{"how": "well"}'), call("push")), ("all passed", "pushed"))
        self.assertEqual(self.outcomes()[4:], ["ok", "ok"])


@unittest.skipUnless(is_there("langchain"), "LangChain is not installed")
class LangChain(Adapter):
    def calls(self, is_async: bool) -> None:
        from langchain.messages import ToolMessage
        from langchain_agent import Rulestep

        middleware = Rulestep(self.session)

        def call(name: str, status: str = "success") -> Any:
            request = SimpleNamespace(tool_call={"name": name, "args": {}, "id": f"{name}-{status}"})

            def answer(_: Any) -> ToolMessage:
                if status == "raise":
                    raise RuntimeError("2 tests failed")
                return ToolMessage(content=name, tool_call_id=f"{name}-{status}", status=status)

            async def later(request: Any) -> ToolMessage:
                return answer(request)

            if is_async:
                asyncio.run(middleware.aafter_model({}, None))
                return asyncio.run(middleware.awrap_tool_call(request, later))
            middleware.after_model({}, None)
            return middleware.wrap_tool_call(request, answer)

        with self.assertRaises(RuntimeError):
            call("test", "raise")
        self.assertEqual(call("test", "error").status, "error")
        denied = call("push")
        self.assertEqual(denied.status, "error")
        self.assertIn("Tests run before a push", denied.content)
        self.assertEqual([call("test").content, call("push").content], ["test", "push"])
        self.assertEqual(self.outcomes(), ["error", "error", "ok", "ok"])

    def test_calls_are_decided(self) -> None:
        self.calls(is_async=False)

    def test_asynchronous_calls_are_decided(self) -> None:
        self.calls(is_async=True)


if __name__ == "__main__":
    unittest.main()
