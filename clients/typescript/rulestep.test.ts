// node --test, with the program's path in RULESTEP. Uses the real gate.

import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";

import { Denied, Gate, GateError } from "./rulestep.ts";
import type { Decision } from "./rulestep.ts";

const PROGRAM = process.env.RULESTEP ?? "rulestep";
const POLICY = `tool: push
preconditions:
  - {requires_prior_tool: test, description: Tests run before a push}
  - {requires_prior_tool: review, effect: ask, tell: Nobody has reviewed this.}
---
forbidden:
  - {sequence: [drop], action: halt, reason: security:drop, tellLLM: Nothing is dropped.}
`;

let folder = "";
let policy = "";
let gates: Gate[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rulestep-"));
  process.env.XDG_STATE_HOME = folder;
  policy = join(folder, "policy.yaml");
  writeFileSync(policy, POLICY);
});

afterEach(async () => {
  await Promise.all(gates.map((gate) => gate.close()));
  gates = [];
  rmSync(folder, { recursive: true, force: true });
});

function start(options: { program?: string; shadow?: boolean; timeout?: number } = {}): Gate {
  const gate = new Gate(policy, { program: PROGRAM, ...options });
  gates.push(gate);
  return gate;
}

/** A gate that answers every line with this text. */
function fake(answer: string, wait = 0): Gate {
  const program = join(folder, "fake");
  const lines = "require('node:readline').createInterface({input: process.stdin})";
  const say = `setTimeout(() => console.log(${JSON.stringify(answer)}), ${wait})`;
  writeFileSync(program, `#!${process.execPath}\n${lines}.on("line", () => ${say});\n`);
  chmodSync(program, 0o755);
  return start({ program, timeout: 2000 });
}

const ask = { op: "propose", session: "a", tool: "test", id: "c" };

async function denied(call: Promise<unknown>): Promise<Denied> {
  try {
    await call;
  } catch (error) {
    assert.ok(error instanceof Denied, String(error));
    return error;
  }
  assert.fail("it was not denied");
}

test("calls are decided, run and resolved", async () => {
  const session = await start().session("a");
  assert.deepEqual(await session.turn(["test", "push"]), ["test"]);
  const error = await denied(session.call("push", {}, () => assert.fail("it ran")));
  assert.equal(error.decision.decision, "deny");
  assert.match(error.reason, /Tests run before a push: /);
  assert.deepEqual(await session.call("test", {}, () => ({ passed: 7 })), { passed: 7 });
  assert.deepEqual(await session.turn(["test", "push"]), ["test", "push"]);
  const decision = await session.propose("push", {}, "p1");
  assert.deepEqual([decision.id, decision.decision, decision.runs, decision.asks], ["p1", "ask", false, true]);
  assert.match(decision.reason, /Nobody has reviewed this\./);
  assert.equal(decision.findings[0]?.effect, "ask");
  await session.close();
});

test("a person is asked", async () => {
  const session = await start().session("a");
  await session.turn();
  await session.call("test", {}, () => "ok");
  await session.turn();
  for (const answer of [undefined, () => false, (() => "yes") as unknown as () => boolean]) {
    await denied(session.call("push", {}, () => assert.fail("it ran"), { ask: answer }));
  }
  const asked: Decision[] = [];
  const agree = (decision: Decision) => asked.push(decision) > 0;
  assert.equal(await session.call("push", {}, () => "pushed", { ask: agree }), "pushed");
  assert.equal(asked.length, 1);
  const journal = readFileSync(join(folder, "rulestep/live/host/a.jsonl"), "utf8");
  assert.equal(journal.split('"outcome":"refused"').length - 1, 3);
});

test("failures and halts", async () => {
  const session = await start().session("a");
  await session.turn();
  const broken = () => Promise.reject(new Error("no network"));
  await assert.rejects(session.call("test", {}, broken), /no network/);
  await session.turn();
  // A failed test satisfies nothing.
  assert.equal((await session.propose("push", {})).decision, "deny");
  const halted = await session.propose("drop", {});
  assert.deepEqual([halted.decision, halted.runs], ["halt", false]);
  assert.equal((await session.propose("test", {})).decision, "not_reached");
});

test("a session is gone on with", async () => {
  const first = start();
  const session = await first.session("a");
  await session.turn();
  await session.call("test", {}, () => "ok");
  await first.close();
  const second = await start().session("a");
  assert.equal(second.resumed, true);
  await second.turn();
  assert.equal((await second.propose("push", {})).decision, "ask");
});

test("a gate that ends denies", async () => {
  const gate = start();
  const session = await gate.session("a");
  await session.turn();
  (gate as unknown as { process: { kill(signal: string): void } }).process.kill("SIGKILL");
  for (let time = 0; time < 2; time += 1) {
    const decision = await session.propose("test", {});
    assert.deepEqual([decision.decision, decision.runs], ["deny", false]);
    assert.match(decision.reason, /could not decide/);
  }
  await assert.rejects(session.turn(), GateError);
});

test("a gate that cannot be started denies", async () => {
  const program = join(folder, "missing");
  const gate = start({ program });
  await assert.rejects(gate.session("a"), GateError);
  assert.equal((await gate.propose(ask)).runs, false);
  assert.equal((await start({ program, shadow: true }).propose(ask)).runs, true);
});

test("answers that are no decision deny", async () => {
  for (const answer of [
    "",
    "nonsense",
    "[]",
    "null",
    '{"decision": "allow"}',
    '{"decision": "allow", "runs": 1}',
    '{"decision": "maybe", "runs": true}',
    '{"id": "other", "decision": "allow", "runs": true}',
  ]) {
    const decision = await fake(answer).propose(ask);
    assert.deepEqual([decision.decision, decision.runs], ["deny", false], answer);
  }
});

test("a late answer is no answer to the next request", async () => {
  const gate = fake('{"decision": "allow", "runs": true}', 3000);
  assert.equal((await gate.propose(ask)).runs, false);
  assert.equal((await gate.propose(ask)).runs, false);
});

test("what is not JSON is denied", async () => {
  const session = await start().session("a");
  await session.turn();
  assert.equal((await session.propose("test", { at: 1n })).runs, false);
  // The gate goes on: nothing was sent.
  assert.equal((await session.propose("test", {})).runs, true);
});

test("an invalid policy denies", async () => {
  writeFileSync(policy, "tool: push\npreconditons: []\n");
  await assert.rejects(start().session("a"), GateError);
});

test("calls at once get their own answers", async () => {
  const session = await start().session("a");
  await session.turn();
  const ids = Array.from({ length: 20 }, (_, number) => `c${number}`);
  const decisions = await Promise.all(ids.map((id) => session.propose("test", {}, id)));
  assert.deepEqual(decisions.map((decision) => decision.id), ids);
});
