/** The frame of the operator's commands: a request, then a text, JSON, or a refusal. */

import type { TagcastClient } from '../../packages/client/src/client.ts';
import type { ShownCredential } from '../access/credentials.ts';
import { visibleField } from '../std/visible-text.ts';
import type { Command, CommandDescription, Form, Verb } from './command.ts';
import { createCommand, EXIT_FAILED, printedJson, withJson } from './command.ts';
import { refusalOf } from './operator-api.ts';
import { refusalExitCode } from './refusal-exit-code.ts';
import type { Terminal } from './terminal.ts';

/** The session of a command. It is opened only when a command runs: `--help` opens nothing. */
export interface OperatorSession {
  readonly api: TagcastClient;
  close(): Promise<void>;
}

export interface OperatorContext {
  open(): Promise<OperatorSession>;
  readonly terminal: Terminal;
}

export interface Told {
  readonly value: unknown;
  readonly text: string;
}

export type Plan = Request | Told;

interface Outcome {
  readonly exitCode: number;
  readonly text: string;
  /** Undefined: the request was refused. */
  readonly value?: unknown;
}

interface Request {
  ask(api: TagcastClient): Promise<Outcome>;
}

export const asking = <Value>(
  ask: (api: TagcastClient) => Promise<Value>,
  describe: (value: Value) => string,
  /** It was done, but its result is bad and is complained about. */
  hasFailed: (value: Value) => boolean = () => false,
): Request => ({
  async ask(api) {
    try {
      const value = await ask(api);
      return { exitCode: hasFailed(value) ? EXIT_FAILED : 0, text: describe(value), value };
    } catch (error) {
      const sentence = refusalOf(error);
      if (sentence === null) throw error;
      return { exitCode: refusalExitCode(error), text: visibleField(sentence) };
    }
  },
});

export const errandCommand = (
  context: OperatorContext,
  description: CommandDescription<Verb<Plan>>,
): Command =>
  createCommand(
    { ...description, verbs: withJson(description.verbs) },
    context.terminal,
    (plan, form) => carryOutPlan(context, plan, form),
  );

/** Prints what the plan comes to; resolves with the exit code. */
export async function carryOutPlan(
  { open, terminal }: OperatorContext,
  plan: Plan,
  { isJson }: Pick<Form, 'isJson'>,
): Promise<number> {
  if ('text' in plan) {
    terminal.print(isJson ? printedJson(plan.value) : plan.text);
    return 0;
  }
  const session = await open();
  try {
    const { exitCode, text, value } = await plan.ask(session.api);
    if (isJson && value !== undefined) terminal.print(printedJson(value));
    else if (exitCode === 0) terminal.print(text);
    else terminal.complain(text);
    return exitCode;
  } finally {
    await session.close();
  }
}

/** A credential in the form that commands have printed since before it had a route. */
export const shownCredential = (credential: {
  readonly userName: string;
  readonly password: string;
  readonly token: string;
}): ShownCredential => ({
  username: credential.userName,
  password: credential.password,
  token: credential.token,
});

/** Credentials in clear text, for the operator. */
export const describeCredential = (title: string, credential: ShownCredential): string =>
  [
    title,
    `  Token       ${credential.token}`,
    `  LegacyAuth  ${credential.username}:${credential.password}`,
  ].join('\n');
