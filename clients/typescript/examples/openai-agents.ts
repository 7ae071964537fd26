// Tools of the OpenAI Agents SDK, decided by a gate: npm install @openai/agents
//
//     const agent = new Agent({ name, tools: [tool({ ...push, ...guards(session) })] });
//     await new Runner({ callModelInputFilter: turns(session) }).run(agent, text);

import type { CallModelInputFilter } from "@openai/agents";
import { ToolGuardrailFunctionOutputFactory, defineToolInputGuardrail, defineToolOutputGuardrail } from "@openai/agents";

import { Denied } from "../rulestep.ts";
import type { Decision, Session } from "../rulestep.ts";

/** What the model reads of a tool that failed. */
type Failed = (context: never, error: unknown, details?: { toolCall?: { callId: string } }) => string | Promise<string>;

const FAILED: Failed = () => "The tool failed, so nothing may rely on this call.";

/**
 * Members of a tool that have the gate decide its calls. A denied call gives the model the reason.
 *
 * They come last, since the SDK gives a tool's failure to the model as a result: these members notice it. What the model is to
 * read of one goes in here: `guards(session, { errorFunction })`.
 */
export function guards(session: Session, texts: { errorFunction?: Failed; timeoutErrorFunction?: Failed } = {}) {
  const decided = new Map<string, Decision>();
  const failures = new Map<string, string>();
  const noticed = (text: Failed): Failed => (context, error, details) => {
    const why = error instanceof Error ? error.message : String(error);
    const id = details?.toolCall?.callId;
    // A failure without its call may be that of any call.
    for (const call of id === undefined ? decided.keys() : [id]) failures.set(call, why);
    return text(context, error, details);
  };
  const before = defineToolInputGuardrail({
    name: "rulestep",
    run: async ({ toolCall }) => {
      const decision = await session.propose(toolCall.name, parsed(toolCall.arguments), toolCall.callId);
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
      const failure = failures.get(toolCall.callId);
      decided.delete(toolCall.callId);
      failures.delete(toolCall.callId);
      if (decision !== undefined) await session.ended(decision, failure ?? output, failure === undefined ? "ok" : "error");
      return ToolGuardrailFunctionOutputFactory.allow();
    },
  });
  return {
    inputGuardrails: [before],
    outputGuardrails: [after],
    errorFunction: noticed(texts.errorFunction ?? FAILED),
    timeoutErrorFunction: noticed(texts.timeoutErrorFunction ?? texts.errorFunction ?? FAILED),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text || "{}");
  } catch {
    return text;
  }
}

/** Begins a turn of the gate before each response of the model. */
export function turns(session: Session): CallModelInputFilter {
  return async ({ modelData }) => {
    await session.turn();
    return modelData;
  };
}
