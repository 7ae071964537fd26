// node --test, with the program's path in RULESTEP. The adapter takes only types from the SDK, so the SDK is played here.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { Gate } from "../rulestep.ts";
import { guarded, steps } from "./vercel-ai.ts";

const POLICY = "tool: push\npreconditions:\n  - {requires_prior_tool: test, description: Tests run before a push}\n";

test("hidden and kept tools", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rulestep-"));
  process.env.XDG_STATE_HOME = folder;
  const policy = join(folder, "policy.yaml");
  writeFileSync(policy, POLICY);
  const gate = new Gate(policy, { program: process.env.RULESTEP ?? "rulestep" });
  try {
    const session = await gate.session("a");
    const run = (name: string) => ({ execute: async ({ fail }: { fail?: boolean }) => {
      if (fail === true) throw new Error("it failed");
      return name;
    } });
    const tools = guarded({ push: run("push"), test: run("test") } as never, session) as Record<string, ReturnType<typeof run>>;
    const call = (name: string, input: object, toolCallId: string) =>
      (tools[name]?.execute as (input: object, options: object) => Promise<unknown>)(input, { toolCallId });
    const step = steps(tools as never, session);
    assert.deepEqual(await step(), { activeTools: ["test"] });
    // The SDK rejected a call to the hidden tool in that step: it is in the journal, and nothing ran.
    const rejected = { toolCallId: "c1", toolName: "push", input: {}, invalid: true };
    await step({ steps: [{ toolCalls: [rejected] }] });
    await assert.rejects(call("test", { fail: true }, "c2"), /it failed/);
    // Offered though it is stopped: the model reads why, and what failed satisfies nothing.
    assert.deepEqual(await steps(tools as never, session, { keepTools: true })(), {});
    assert.match((await call("push", {}, "c3") as { denied: string }).denied, /Tests run before a push/);
    assert.equal(await call("test", {}, "c4"), "test");
    assert.deepEqual(await step(), { activeTools: ["push", "test"] });
    const journal = readFileSync(join(folder, "rulestep/live/host/a.jsonl"), "utf8");
    const proposed = journal.split("\n").filter((line) => line.includes('"record":"proposed"'));
    const decided = proposed.map((line) => JSON.parse(line) as { id: string; decision: string });
    assert.deepEqual(decided.map(({ id, decision }) => `${id} ${decision}`), ["c1 deny", "c2 allow", "c3 deny", "c4 allow"]);
  } finally {
    await gate.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
