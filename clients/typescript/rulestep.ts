/**
 * Asks `rulestep gate --stdio` before a tool call runs (protocol `rulestep.gate/1`, docs/gate.md).
 *
 * One file without dependencies, for Node 20 and newer. Copy it beside your agent:
 *
 *     const gate = new Gate("contracts/");
 *     const session = await gate.session("ticket-7");
 *     await session.turn(["run_tests", "push"]);        // once for each response of the model
 *     try {
 *       output = await session.call("push", { branch: "main" }, () => push("main"), { id: "call_1" });
 *     } catch (error) {
 *       if (!(error instanceof Denied)) throw error;
 *       output = error.reason;                           // what the model reads instead of a result
 *     }
 *
 * A gate that does not answer denies: see `Gate`.
 */

import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";

export const PROTOCOL = "rulestep.gate/1";

export type Verdict = "allow" | "ask" | "deny" | "halt" | "not_reached";
export type Outcome = "ok" | "error" | "refused";

/** What the gate says of a call. */
export interface Decision {
  /** The call's id, for `Session.resolve`. */
  readonly id: string;
  readonly decision: Verdict;
  /** Whether the call may run. False for a call that a person is to be asked about. */
  readonly runs: boolean;
  /** Whether a person is to be asked: resolve the call with its result, or with `refused`. */
  readonly asks: boolean;
  /** Why it does not run, for the model. */
  readonly reason: string;
  /** What each rule found, as in `rulestep replay --format json`. */
  readonly findings: readonly Record<string, unknown>[];
}

export interface GateOptions {
  /** The program, if it is not on the path. */
  program?: string;
  /** Decide and record, and stop nothing. */
  shadow?: boolean;
  /** Milliseconds to wait for an answer. */
  timeout?: number;
  /** Further arguments of `rulestep gate`. */
  arguments?: readonly string[];
}

export interface SessionOptions {
  context?: Record<string, unknown>;
  variables?: Record<string, unknown>;
  files?: readonly string[];
  parent?: string;
}

/** Asks a person. Anything but `true` is a refusal. */
export type Ask = (decision: Decision) => boolean | Promise<boolean>;

type Message = Record<string, unknown>;

const VERDICTS: readonly string[] = ["allow", "ask", "deny", "halt", "not_reached"];

/** The gate could not do what it was asked. */
export class GateError extends Error {
  override readonly name = "GateError";
}

/** A call must not run. `reason` is written for the model. */
export class Denied extends Error {
  override readonly name = "Denied";
  readonly decision: Decision;
  readonly reason: string;

  constructor(decision: Decision) {
    super(decision.reason);
    this.decision = decision;
    this.reason = decision.reason;
  }
}

/**
 * A running gate. Once it fails to answer, every call is denied; with `shadow`, where nothing is ever stopped, every call runs.
 */
export class Gate {
  readonly shadow: boolean;
  private readonly timeout: number;
  private readonly process: ChildProcess;
  private readonly waiting: { resolve: (answer: Message) => void; reject: (why: Error) => void }[] = [];
  private failure: string | undefined;

  constructor(policy: string, options: GateOptions = {}) {
    const program = options.program ?? "rulestep";
    this.shadow = options.shadow ?? false;
    this.timeout = options.timeout ?? 10_000;
    const mode = this.shadow ? ["--shadow"] : [];
    const all = ["gate", "--stdio", "-p", policy, ...mode, ...(options.arguments ?? [])];
    this.process = spawn(program, all, { stdio: ["pipe", "pipe", "inherit"] });
    this.process.on("error", (error) => this.fail(`\`${program}\` cannot be started: ${error.message}`));
    this.process.stdin?.on("error", (error) => this.fail(`the gate cannot be reached: ${error.message}`));
    const lines = createInterface({ input: this.process.stdout!, crlfDelay: Infinity });
    lines.on("line", (line) => this.take(line));
    lines.on("close", () => this.fail("the gate has ended"));
  }

  /** Opens a session, or goes on with one whose journal is there. */
  async session(name: string, options: SessionOptions = {}): Promise<Session> {
    return new Session(this, name, await this.request({ op: "open", session: name, ...options }));
  }

  /** Sends a request of the protocol and gives its answer. */
  async request(request: Message): Promise<Message> {
    const answer = await this.exchange(request);
    if ("error" in answer) throw new GateError(String(answer.error));
    return answer;
  }

  /** Asks for a decision. Whatever goes wrong is a denial. */
  async propose(request: Message): Promise<Decision> {
    try {
      return this.read(request, await this.exchange(request));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const reason = `Rulestep could not decide this call: ${why}`;
      return { id: String(request.id ?? ""), decision: "deny", runs: this.shadow, asks: false, reason, findings: [] };
    }
  }

  /** From now on nothing is asked any more. */
  fail(why: string): void {
    this.failure ??= why;
    this.process.kill("SIGKILL");
    for (const { reject } of this.waiting.splice(0)) reject(new GateError(this.failure));
  }

  /** Ends the gate. */
  async close(): Promise<void> {
    this.failure ??= "the gate was closed";
    const { exitCode, signalCode, pid } = this.process;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    const ended = new Promise<void>((resolve) => this.process.once("exit", () => resolve()));
    this.process.stdin?.end();
    const late = setTimeout(() => this.process.kill("SIGKILL"), this.timeout);
    await ended;
    clearTimeout(late);
  }


  private take(line: string): void {
    const next = this.waiting.shift();
    if (next === undefined) return this.fail("the gate gave an answer that nobody asked for");
    let answer: unknown;
    try {
      answer = JSON.parse(line);
    } catch {
      answer = undefined;
    }
    if (typeof answer === "object" && answer !== null && !Array.isArray(answer)) {
      next.resolve(answer as Message);
    } else {
      // Which answer belongs to which request is not known from here on.
      const why = "the gate gave an answer that is not an object";
      next.reject(new GateError(why));
      this.fail(why);
    }
  }

  private exchange(request: Message): Promise<Message> {
    return new Promise((resolve, reject) => {
      const line = JSON.stringify(request);
      if (this.failure !== undefined) return reject(new GateError(this.failure));
      const late = setTimeout(() => this.fail(`the gate did not answer within ${this.timeout} ms`), this.timeout);
      const ended = <T>(then: (value: T) => void) => (value: T): void => {
        clearTimeout(late);
        then(value);
      };
      this.waiting.push({ resolve: ended(resolve), reject: ended(reject) });
      this.process.stdin?.write(`${line}\n`);
    });
  }

  private read(request: Message, answer: Message): Decision {
    const { decision, runs, reason, findings } = answer;
    if (typeof decision !== "string" || !VERDICTS.includes(decision) || typeof runs !== "boolean") {
      throw new GateError(String(answer.error ?? "the answer holds no decision"));
    }
    const given = answer.id ?? request.id;
    if (request.id !== undefined && given !== request.id) {
      this.fail("the gate answered for another call");
      throw new GateError("the gate answered for another call");
    }
    return {
      id: String(given ?? ""),
      decision: decision as Verdict,
      runs,
      asks: decision === "ask" && !runs,
      reason: typeof reason === "string" ? reason : "",
      findings: Array.isArray(findings) ? (findings as Record<string, unknown>[]) : [],
    };
  }
}

/** A session of a gate. */
export class Session {
  readonly gate: Gate;
  readonly name: string;
  /** Whether its journal had calls already. */
  readonly resumed: boolean;
  /** The digest of the policy. */
  readonly policy: string;

  constructor(gate: Gate, name: string, opened: Message) {
    this.gate = gate;
    this.name = name;
    this.resumed = opened.resumed === true;
    this.policy = String(opened.policy ?? "");
  }

  /** Begins a turn, once for each response of the model; the tools that the model should see. */
  async turn(tools?: readonly string[]): Promise<string[]> {
    const answer = await this.gate.request({ op: "turn", session: this.name, tools });
    return Array.isArray(answer.visible) ? (answer.visible as string[]) : [];
  }

  /** Notes what was said. The role `assistant` is the response of the turn. */
  async message(role: string, content: unknown): Promise<void> {
    await this.gate.request({ op: "message", session: this.name, role, content });
  }

  /** Asks whether a call may run. Whatever goes wrong is a denial. */
  propose(tool: string, given: unknown, id?: string): Promise<Decision> {
    return this.gate.propose({ op: "propose", session: this.name, tool, arguments: given, id });
  }

  /** Says what became of a call that ran or was asked about. */
  async resolve(id: string, output?: unknown, outcome: Outcome = "ok"): Promise<void> {
    await this.gate.request({ op: "resolve", session: this.name, id, outcome, output: plain(output) });
  }

  /**
   * Runs a call if it may run, and says what became of it. `ask` asks a person; without it, what is to be asked is denied.
   * Throws `Denied` for a call that must not run, and what `run` throws.
   */
  async call<T>(
    tool: string,
    given: unknown,
    run: () => T | Promise<T>,
    options: { id?: string; ask?: Ask } = {},
  ): Promise<T> {
    const decision = await this.propose(tool, given, options.id);
    await this.admit(decision, options.ask);
    let output: T;
    try {
      output = await run();
    } catch (error) {
      await this.ended(decision, error instanceof Error ? error.message : String(error), "error");
      throw error;
    }
    await this.ended(decision, output);
    return output;
  }

  /** Throws `Denied` unless the call may run, or a person who was asked agrees. */
  async admit(decision: Decision, ask?: Ask): Promise<void> {
    if (decision.runs) return;
    if (decision.asks) {
      let agreed = false;
      try {
        agreed = ask !== undefined && (await ask(decision)) === true;
      } finally {
        if (!agreed) await this.ended(decision, decision.reason, "refused");
      }
      if (agreed) return;
    }
    throw new Denied(decision);
  }

  /** Says what became of a call. A gate that does not take it knows too little, so it denies every later call. */
  async ended(decision: Decision, output?: unknown, outcome: Outcome = "ok"): Promise<void> {
    try {
      await this.resolve(decision.id, output, outcome);
    } catch (error) {
      this.gate.fail(`the result of a call could not be recorded: ${String(error)}`);
    }
  }

  /** Ends the session. */
  async close(): Promise<void> {
    await this.gate.request({ op: "close", session: this.name });
  }
}

/** The value as JSON has it; what JSON has no form for, as text. */
function plain(value: unknown): unknown {
  try {
    return JSON.stringify(value) === undefined ? null : value;
  } catch {
    return String(value);
  }
}
