"""Asks `rulestep gate --stdio` before a tool call runs (protocol `rulestep.gate/1`, docs/gate.md).

One file without dependencies, for Python 3.9 and newer. Copy it beside your agent:

    with Gate("contracts/") as gate, gate.session("ticket-7") as session:
        session.turn(["run_tests", "push"])                      # once for each response of the model
        try:
            output = session.call("push", {"branch": "main"}, push, id="call_1")
        except Denied as denied:
            output = denied.reason                               # what the model reads instead of a result

A gate that does not answer denies: see `Gate`.
"""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Optional, Sequence, TypeVar

PROTOCOL = "rulestep.gate/1"
DECISIONS = ("allow", "ask", "deny", "halt", "not_reached")

T = TypeVar("T")


class GateError(Exception):
    """The gate could not do what it was asked."""


class Denied(Exception):
    """A call must not run. `reason` is written for the model."""

    def __init__(self, decision: "Decision") -> None:
        super().__init__(decision.reason)
        self.decision = decision
        self.reason = decision.reason


@dataclass(frozen=True)
class Decision:
    """What the gate says of a call."""

    id: str
    """The call's id, for `Session.resolve`."""
    decision: str
    """`allow`, `ask`, `deny`, `halt` or `not_reached`."""
    runs: bool
    """Whether the call may run. False for a call that a person is to be asked about."""
    reason: str = ""
    """Why it does not run, for the model."""
    findings: List[Dict[str, Any]] = field(default_factory=list)
    """What each rule found, as in `rulestep replay --format json`."""

    @property
    def asks(self) -> bool:
        """Whether a person is to be asked: resolve the call with its result, or with `refused`."""
        return self.decision == "ask" and not self.runs


class Gate:
    """A running gate. Once it fails to answer, every call is denied; with `shadow`, where nothing is ever stopped, every call
    runs. It can be used from several threads.
    """

    def __init__(
        self,
        policy: str,
        *,
        program: str = "rulestep",
        shadow: bool = False,
        timeout: float = 10.0,
        arguments: Sequence[str] = (),
    ) -> None:
        self.shadow = shadow
        self.timeout = timeout
        self._lock = threading.Lock()
        self._answers: "queue.Queue[Optional[str]]" = queue.Queue()
        self._failure: Optional[str] = None
        self._process: Optional["subprocess.Popen[str]"] = None
        command = [program, "gate", "--stdio", "-p", policy, *(["--shadow"] if shadow else []), *arguments]
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", bufsize=1
            )
        except OSError as error:
            self._failure = f"`{program}` cannot be started: {error}"
            return
        threading.Thread(target=self._read, daemon=True).start()

    def session(
        self,
        name: str,
        *,
        context: Optional[Dict[str, Any]] = None,
        variables: Optional[Dict[str, Any]] = None,
        files: Optional[List[str]] = None,
        parent: Optional[str] = None,
    ) -> "Session":
        """Opens a session, or goes on with one whose journal is there."""
        wanted = {"context": context, "variables": variables, "files": files, "parent": parent}
        given = {key: value for key, value in wanted.items() if value is not None}
        return Session(self, name, self.request({"op": "open", "session": name, **given}))

    def request(self, request: Dict[str, Any]) -> Dict[str, Any]:
        """Sends a request of the protocol and gives its answer."""
        answer = self._exchange(request)
        if "error" in answer:
            raise GateError(str(answer["error"]))
        return answer

    def propose(self, request: Dict[str, Any]) -> Decision:
        """Asks for a decision. Whatever goes wrong is a denial."""
        try:
            return self._decision(request, self._exchange(request))
        except GateError as error:
            reason = f"Rulestep could not decide this call: {error}"
            return Decision(str(request.get("id") or ""), "deny", self.shadow, reason)

    def fail(self, why: str) -> None:
        """From now on nothing is asked any more."""
        self._failure = self._failure or why
        if self._process is not None:
            self._process.kill()

    def close(self) -> None:
        """Ends the gate."""
        self._failure = self._failure or "the gate was closed"
        process, self._process = self._process, None
        if process is None:
            return
        try:
            if process.stdin is not None:
                process.stdin.close()
            process.wait(self.timeout)
        except (OSError, subprocess.TimeoutExpired):
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()

    def __enter__(self) -> "Gate":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self) -> None:
        process = self._process
        try:
            if process is not None and process.stdout is not None:
                for line in process.stdout:
                    self._answers.put(line)
        except (OSError, ValueError):
            pass
        self._answers.put(None)

    def _exchange(self, request: Dict[str, Any]) -> Dict[str, Any]:
        try:
            line = json.dumps(request, ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise GateError(f"the request is not JSON: {error}") from error
        with self._lock:
            process = self._process
            if self._failure is not None or process is None or process.stdin is None:
                raise GateError(self._failure or "the gate was closed")
            # An answer that is missing or late would be taken for that of the next request: nothing follows it.
            try:
                process.stdin.write(line + "\n")
                process.stdin.flush()
                text = self._answers.get(timeout=self.timeout)
                answer = json.loads(text) if text is not None else None
            except queue.Empty:
                self.fail(f"the gate did not answer within {self.timeout} s")
                raise GateError(self._failure or "") from None
            except (OSError, ValueError) as error:
                self.fail(f"the gate cannot be reached: {error}")
                raise GateError(self._failure or "") from error
            if not isinstance(answer, dict):
                self.fail("the gate has ended" if text is None else "the gate gave an answer that is not an object")
                raise GateError(self._failure or "")
            return answer

    def _decision(self, request: Dict[str, Any], answer: Dict[str, Any]) -> Decision:
        decision, runs = answer.get("decision"), answer.get("runs")
        if decision not in DECISIONS or not isinstance(runs, bool):
            raise GateError(str(answer.get("error") or "the answer holds no decision"))
        wanted = request.get("id")
        given = answer.get("id", wanted)
        if wanted is not None and given != wanted:
            self.fail("the gate answered for another call")
            raise GateError(self._failure or "")
        findings = answer.get("findings")
        reason = answer.get("reason")
        return Decision(
            str(given or ""),
            str(decision),
            runs,
            reason if isinstance(reason, str) else "",
            findings if isinstance(findings, list) else [],
        )


class Session:
    """A session of a gate."""

    def __init__(self, gate: Gate, name: str, opened: Dict[str, Any]) -> None:
        self.gate = gate
        self.name = name
        self.resumed = opened.get("resumed") is True
        """Whether its journal had calls already."""
        self.policy = str(opened.get("policy") or "")
        """The digest of the policy."""

    def turn(self, tools: Optional[Sequence[str]] = None) -> List[str]:
        """Begins a turn, once for each response of the model; the tools that the model should see."""
        given = {} if tools is None else {"tools": list(tools)}
        return self.gate.request({"op": "turn", "session": self.name, **given}).get("visible") or []

    def message(self, role: str, content: Any) -> None:
        """Notes what was said. The role `assistant` is the response of the turn."""
        self.gate.request({"op": "message", "session": self.name, "role": role, "content": content})

    def propose(self, tool: str, arguments: Any, *, id: Optional[str] = None) -> Decision:
        """Asks whether a call may run. Whatever goes wrong is a denial."""
        given = {} if id is None else {"id": id}
        return self.gate.propose(
            {"op": "propose", "session": self.name, "tool": tool, "arguments": arguments, **given}
        )

    def resolve(self, id: str, output: Any = None, outcome: str = "ok") -> None:
        """Says what became of a call that ran or was asked about: `ok`, `error` or `refused`."""
        self.gate.request(
            {"op": "resolve", "session": self.name, "id": id, "outcome": outcome, "output": plain(output)}
        )

    def call(
        self,
        tool: str,
        arguments: Any,
        run: Callable[[], T],
        *,
        id: Optional[str] = None,
        ask: Optional[Callable[[Decision], bool]] = None,
    ) -> T:
        """Runs a call if it may run, and says what became of it. `ask` asks a person; without it, what is to be asked is denied.

        Raises `Denied` for a call that must not run, and what `run` raises.
        """
        decision = self.propose(tool, arguments, id=id)
        self.admit(decision, ask)
        try:
            output = run()
        except Exception as error:
            self.ended(decision, str(error), "error")
            raise
        self.ended(decision, output)
        return output

    def admit(self, decision: Decision, ask: Optional[Callable[[Decision], bool]] = None) -> None:
        """Raises `Denied` unless the call may run, or a person who was asked agrees."""
        if decision.runs:
            return
        if decision.asks:
            agreed = False
            try:
                agreed = ask is not None and ask(decision) is True
            finally:
                if not agreed:
                    self.ended(decision, decision.reason, "refused")
            if agreed:
                return
        raise Denied(decision)

    def ended(self, decision: Decision, output: Any, outcome: str = "ok") -> None:
        """Says what became of a call. A gate that does not take it knows too little, so it denies every later call."""
        try:
            self.resolve(decision.id, output, outcome)
        except GateError as error:
            self.gate.fail(f"the result of a call could not be recorded: {error}")

    def close(self) -> None:
        """Ends the session."""
        self.gate.request({"op": "close", "session": self.name})

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            self.close()
        except GateError:
            # A gate that has ended must not hide what went wrong before.
            if kind is None:
                raise


def plain(value: Any) -> Any:
    """The value as JSON has it; what JSON has no form for, as text."""
    try:
        json.dumps(value, allow_nan=False)
        return value
    except (TypeError, ValueError):
        return str(value)
