"""python3 -m unittest, with the program's path in RULESTEP. Uses the real gate."""

import os
import stat
import sys
import tempfile
import threading
import unittest
from pathlib import Path

from rulestep import Decision, Denied, Gate, GateError

PROGRAM = os.environ.get("RULESTEP", "rulestep")
POLICY = """\
tool: push
preconditions:
  - {requires_prior_tool: test, description: Tests run before a push}
  - {requires_prior_tool: review, effect: ask, tell: Nobody has reviewed this.}
---
forbidden:
  - {sequence: [drop], action: halt, reason: security:drop, tellLLM: Nothing is dropped.}
"""


class Client(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        os.environ["XDG_STATE_HOME"] = folder.name
        self.policy = str(self.folder / "policy.yaml")
        Path(self.policy).write_text(POLICY)

    def gate(self, **more: object) -> Gate:
        gate = Gate(self.policy, program=PROGRAM, **more)  # type: ignore[arg-type]
        self.addCleanup(gate.close)
        return gate

    def fake(self, body: str) -> Gate:
        """A gate that answers as a program of ours does."""
        program = self.folder / "fake"
        program.write_text(f"#!{sys.executable}\nimport sys, json, time\n{body}\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        gate = Gate(self.policy, program=str(program), timeout=2.0)
        self.addCleanup(gate.close)
        return gate

    def test_calls_are_decided_run_and_resolved(self) -> None:
        session = self.gate().session("a")
        self.assertEqual(session.turn(["test", "push"]), ["test"])
        ran = []
        with self.assertRaises(Denied) as caught:
            session.call("push", {}, lambda: ran.append("push"))
        self.assertEqual((ran, caught.exception.decision.decision), ([], "deny"))
        self.assertIn("Tests run before a push: ", caught.exception.reason)
        self.assertEqual(session.call("test", {}, lambda: {"passed": 7}), {"passed": 7})
        self.assertEqual(session.turn(["test", "push"]), ["test", "push"])
        decision = session.propose("push", {}, id="p1")
        self.assertEqual((decision.id, decision.decision, decision.runs, decision.asks), ("p1", "ask", False, True))
        self.assertIn("Nobody has reviewed this.", decision.reason)
        self.assertEqual(decision.findings[0]["effect"], "ask")
        session.close()

    def test_a_person_is_asked(self) -> None:
        session = self.gate().session("a")
        session.turn()
        session.call("test", {}, lambda: "ok")
        session.turn()
        for ask in (None, lambda _: False, lambda _: "yes"):
            with self.assertRaises(Denied):
                session.call("push", {}, lambda: self.fail("it ran"), ask=ask)  # type: ignore[arg-type]
        asked: list[Decision] = []
        self.assertEqual(session.call("push", {}, lambda: "pushed", ask=lambda d: asked.append(d) or True), "pushed")
        self.assertEqual(len(asked), 1)
        journal = (self.folder / "rulestep/live/host/a.jsonl").read_text()
        self.assertEqual(journal.count('"outcome":"refused"'), 3)

    def test_failures_and_halts(self) -> None:
        session = self.gate().session("a")
        session.turn()
        with self.assertRaises(ZeroDivisionError):
            session.call("test", {}, lambda: 1 // 0)
        session.turn()
        # A failed test satisfies nothing.
        self.assertEqual(session.propose("push", {}).decision, "deny")
        halted = session.propose("drop", {})
        self.assertEqual((halted.decision, halted.runs), ("halt", False))
        self.assertEqual(session.propose("test", {}).decision, "not_reached")

    def test_a_session_is_gone_on_with(self) -> None:
        with self.gate() as gate, gate.session("a") as session:
            session.turn()
            session.call("test", {}, lambda: "ok")
        session = self.gate().session("a")
        self.assertTrue(session.resumed)
        session.turn()
        self.assertEqual(session.propose("push", {}).decision, "ask")

    def test_a_gate_that_ends_denies(self) -> None:
        gate = self.gate()
        session = gate.session("a")
        session.turn()
        assert gate._process is not None
        gate._process.kill()
        gate._process.wait()
        for _ in range(2):
            decision = session.propose("test", {})
            self.assertEqual((decision.decision, decision.runs), ("deny", False))
            self.assertIn("could not decide", decision.reason)
        with self.assertRaises(GateError):
            session.turn()

    def test_a_gate_that_cannot_be_started_denies(self) -> None:
        gate = Gate(self.policy, program=str(self.folder / "missing"))
        with self.assertRaises(GateError):
            gate.session("a")
        self.assertFalse(gate.propose({"op": "propose", "session": "a", "tool": "test"}).runs)
        shadow = Gate(self.policy, program=str(self.folder / "missing"), shadow=True)
        self.assertTrue(shadow.propose({"op": "propose", "session": "a", "tool": "test"}).runs)

    def test_answers_that_are_no_decision_deny(self) -> None:
        answers = ["", "nonsense", "[]", "null", '{"decision": "allow"}', '{"decision": "allow", "runs": 1}',
                   '{"decision": "maybe", "runs": true}', '{"id": "other", "decision": "allow", "runs": true}']
        for answer in answers:
            gate = self.fake(f"for line in sys.stdin:\n    print({answer!r}, flush=True)")
            decision = gate.propose({"op": "propose", "session": "a", "tool": "test", "id": "c"})
            self.assertEqual((decision.decision, decision.runs), ("deny", False), answer)

    def test_a_late_answer_is_no_answer_to_the_next_request(self) -> None:
        gate = self.fake('for line in sys.stdin:\n    time.sleep(3)\n    print(\'{"decision": "allow", "runs": true}\', flush=True)')
        ask = {"op": "propose", "session": "a", "tool": "test"}
        self.assertFalse(gate.propose(ask).runs)
        self.assertFalse(gate.propose(ask).runs)

    def test_what_is_not_json_is_denied(self) -> None:
        session = self.gate().session("a")
        session.turn()
        self.assertFalse(session.propose("test", {"at": object()}).runs)
        self.assertFalse(session.propose("test", float("nan")).runs)
        # The gate goes on: nothing was sent.
        self.assertTrue(session.propose("test", {}).runs)

    def test_an_invalid_policy_denies(self) -> None:
        Path(self.policy).write_text("tool: push\npreconditons: []\n")
        with self.assertRaises(GateError):
            self.gate().session("a")

    def test_threads_get_their_own_answers(self) -> None:
        session = self.gate().session("a")
        session.turn()
        seen: dict[int, str] = {}

        def ask(number: int) -> None:
            seen[number] = session.propose("test", {}, id=f"c{number}").id

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(20)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        self.assertEqual(seen, {number: f"c{number}" for number in range(20)})


if __name__ == "__main__":
    unittest.main()
