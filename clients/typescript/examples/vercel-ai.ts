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

/** Begins a turn of the gate with each step, and offers the tools that the model should see. */
export function steps(tools: ToolSet, session: Session) {
  return async (): Promise<{ activeTools: string[] }> => ({ activeTools: await session.turn(Object.keys(tools)) });
}
