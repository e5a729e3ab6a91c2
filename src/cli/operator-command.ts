/**
 * The frame of the operator's commands: reads flags, asks for one action, prints a text. A fault is
 * a sentence and an exit code.
 */

import type { ParseArgsConfig } from 'node:util';
import { parseArgs } from 'node:util';
import { ask } from '../operator/ask.ts';
import type { ActionName, Answers, OperatorActions } from '../operator/operator-actions.ts';
import type { OperatorSession } from '../operator/operator-session.ts';
import type { ProgressOutput } from './progress.ts';

export interface Terminal {
  print(text: string): void;
  complain(text: string): void;
  /** Reports what a command does, apart from its output. */
  note(text: string): void;
  /**
   * Writes data as it is. Resolves when there is room for more: with false when the reader has
   * gone.
   */
  write(data: string): Promise<boolean>;
  readonly progress: ProgressOutput;
}

export interface OperatorContext {
  open(): Promise<OperatorSession>;
  readonly terminal: Terminal;
}

/**
 * The plan for a verb and its arguments: an errand for the engine, or a text when none is needed.
 */
export type Plan = Errand | string;

interface ErrandFor<Name extends ActionName> {
  readonly action: Name;
  readonly input: unknown;
  /** The text to print for the action's answer. */
  describe(value: Answers[Name]): string;
  /**
   * The action was done, but its result is bad and is complained about. Absent: every result is
   * good.
   */
  failed?(value: Answers[Name]): boolean;
}

/**
 * One thing that a command can do, made from its arguments: an action, and the words for its
 * answer.
 */
export type Errand = { [Name in ActionName]: ErrandFor<Name> }[ActionName];

/** A mistake in the arguments: a sentence for the operator. */
export class UsageError extends Error {}

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

const DIGITS = /^\d+$/;

/** Runs the errand that `plan` makes of a verb and its arguments; returns the exit code. */
export async function runErrand(
  context: OperatorContext,
  usage: string,
  [verb = '', ...args]: readonly string[],
  plan: (verb: string, args: readonly string[]) => Plan | Promise<Plan>,
): Promise<number> {
  const { terminal } = context;
  if ([verb, ...args].some((argument) => argument === '--help' || argument === '-h')) {
    terminal.print(usage);
    return 0;
  }
  try {
    const errand = await plan(verb, args);
    if (typeof errand === 'string') {
      terminal.print(errand);
      return 0;
    }
    const session = await context.open();
    try {
      const { isGood, text } = await carryOut(session.actions, errand);
      if (isGood) terminal.print(text);
      else terminal.complain(text);
      return isGood ? 0 : EXIT_FAILED;
    } finally {
      await session.close();
    }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    terminal.complain(error.message);
    return EXIT_USAGE;
  }
}

async function carryOut<Name extends ActionName>(
  actions: OperatorActions,
  errand: ErrandFor<Name>,
): Promise<{ readonly isGood: boolean; readonly text: string }> {
  const result = await ask(actions, errand.action, errand.input);
  if (!result.ok) return { isGood: false, text: result.fault };
  const { value } = result;
  return { isGood: !errand.failed?.(value), text: errand.describe(value) };
}

/** `parseArgs` of Node, with a sentence for unknown flags. */
export function readFlags<T extends NonNullable<ParseArgsConfig['options']>>(
  args: readonly string[],
  options: T,
) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    // Node adds advice about `--` that fits none of our commands.
    throw new UsageError(text.split('. ')[0] ?? text, { cause: error });
  }
}

/** The positional arguments, of which there must be exactly these. */
export function readPositionals<const Name extends string>(
  given: readonly string[],
  names: readonly Name[],
): Readonly<Record<Name, string>> {
  const missing = names[given.length];
  if (missing !== undefined) throw new UsageError(`<${missing}> is missing`);
  if (given.length > names.length)
    throw new UsageError(`unexpected argument ${given[names.length]}`);
  return Object.fromEntries(names.map((name, index) => [name, given[index]])) as Record<
    Name,
    string
  >;
}

/** Reads an argument that must be a whole number. */
export function readNumber(name: string, text: string): number {
  const value = Number(text);
  if (!DIGITS.test(text)) throw new UsageError(`${name} must be a number, not ${text}`);
  return value;
}

/** Credentials in clear text, for the operator. */
export const describeCredential = (
  title: string,
  credential: { readonly username: string; readonly password: string; readonly token: string },
): string =>
  [
    title,
    `  Token       ${credential.token}`,
    `  LegacyAuth  ${credential.username}:${credential.password}`,
  ].join('\n');
