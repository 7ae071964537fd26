// Tools of the OpenAI Agents SDK, decided by a gate: npm install @openai/agents
//
//     const agent = new Agent({ name, tools: [tool({ ...push, ...guards(session) })] });
//     await new Runner({ callModelInputFilter: turns(session) }).run(agent, text);

import type { CallModelInputFilter } from "@openai/agents";
import { ToolGuardrailFunctionOutputFactory, defineToolInputGuardrail, defineToolOutputGuardrail } from "@openai/agents";

import { Denied } from "../rulestep.ts";
import type { Decision, Session } from "../rulestep.ts";

/** Members of a tool that have the gate decide its calls. A denied call gives the model the reason. */
export function guards(session: Session) {
  const decided = new Map<string, Decision>();
  const before = defineToolInputGuardrail({
    name: "rulestep",
    run: async ({ toolCall }) => {
      const decision = await session.propose(toolCall.name, JSON.parse(toolCall.arguments || "{}"), toolCall.callId);
      try {
        await session.admit(decision);
      } catch (error) {
        if (error instanceof Denied) return ToolGuardrailFunctionOutputFactory.rejectContent(error.reason);
        throw error;
      }
      decided.set(toolCall.callId, decision);
      return ToolGuardrailFunctionOutputFactory.allow();
    },
  });
  const after = defineToolOutputGuardrail({
    name: "rulestep",
    run: async ({ toolCall, output }) => {
      const decision = decided.get(toolCall.callId);
      decided.delete(toolCall.callId);
      if (decision !== undefined) await session.ended(decision, output);
      return ToolGuardrailFunctionOutputFactory.allow();
    },
  });
  return { inputGuardrails: [before], outputGuardrails: [after] };
}

/** Begins a turn of the gate before each response of the model. */
export function turns(session: Session): CallModelInputFilter {
  return async ({ modelData }) => {
    await session.turn();
    return modelData;
  };
}
