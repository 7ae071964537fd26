// Tools of the Vercel AI SDK, decided by a gate: npm install ai
//
//     const tools = guarded({ push, runTests }, session);
//     await generateText({ model, tools, prompt, prepareStep: steps(tools, session), stopWhen: stepCountIs(20) });

import type { ToolSet } from "ai";

import { Denied } from "../rulestep.ts";
import type { Session } from "../rulestep.ts";

/** Has the gate decide every call to these tools. A denied call gives the model the reason. */
export function guarded<T extends ToolSet>(tools: T, session: Session): T {
  const all = Object.entries(tools).map(([name, tool]) => {
    const run = tool.execute;
    // Such a tool runs elsewhere, where nobody asks the gate.
    if (run === undefined) throw new Error(`the tool ${name} has no \`execute\`, so its calls cannot be decided`);
    const execute = async (input: unknown, options: { toolCallId: string }): Promise<unknown> => {
      try {
        return await session.call(name, input, () => run(input as never, options as never), { id: options.toolCallId });
      } catch (error) {
        if (error instanceof Denied) return { denied: error.reason };
        throw error;
      }
    };
    return [name, { ...tool, execute }];
  });
  return Object.fromEntries(all) as T;
}

/** A step of a run, as far as it matters here. */
interface Step {
  toolCalls: readonly { toolCallId: string; toolName: string; input: unknown; invalid?: boolean }[];
}

/**
 * Begins a turn of the gate with each step, and offers the tools that the model should see. With `keepTools` it offers all of them: a
 * call that must not run is denied, and the model reads why.
 *
 * The SDK rejects a call to a tool that was not offered without running anything. The gate is asked about it as well, so that it is in the
 * journal.
 */
export function steps(tools: ToolSet, session: Session, options: { keepTools?: boolean } = {}) {
  return async ({ steps: done = [] }: { steps?: readonly Step[] } = {}): Promise<{ activeTools?: string[] }> => {
    for (const call of done.at(-1)?.toolCalls.filter((call) => call.invalid === true) ?? []) {
      const decision = await session.propose(call.toolName, call.input, call.toolCallId);
      if (decision.runs || decision.asks) await session.ended(decision, "the SDK rejected this call", "refused");
    }
    const visible = await session.turn(Object.keys(tools));
    return options.keepTools === true ? {} : { activeTools: visible };
  };
}
