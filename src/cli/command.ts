/** A command: a description of its verbs, for its arguments, its help and completion by shells. */

import type { parseArgs } from 'node:util';
import { readFlags, readPositionals, UsageError } from './arguments.ts';
import { helpOf } from './help.ts';
import type { Terminal } from './terminal.ts';

/** A flag, as `parseArgs` of Node reads it and as help shows it. */
export interface Flag {
  readonly type: 'string' | 'boolean';
  readonly multiple?: boolean;
  readonly default?: string | boolean;
  /** The placeholder of its value in help; `file`: a shell completes names of files. */
  readonly value?: string;
  /** Values that a shell offers. Others are refused. */
  readonly choices?: readonly string[];
  /** Further names of the choices. */
  readonly alsoTakes?: (text: string) => boolean;
  readonly about: string;
}

export type Flags = Readonly<Record<string, Flag>>;

/** An argument without a flag. */
export interface Argument {
  /** `file`: a shell completes names of files. */
  readonly name: string;
  readonly choices?: readonly string[];
  readonly alsoTakes?: (text: string) => boolean;
  readonly isOptional?: boolean;
  /** Left out with `--profile`, which says it. */
  readonly isOfProfile?: boolean;
}

export interface VerbDescription {
  readonly summary: string;
  readonly arguments: readonly Argument[];
  readonly flags: Flags;
  readonly notes?: string;
}

export interface Verb<Work> extends VerbDescription {
  plan(
    given: Readonly<Record<string, string>>,
    flags: Readonly<Record<string, unknown>>,
  ): Work | Promise<Work>;
}

export interface CommandDescription<V extends VerbDescription = VerbDescription> {
  readonly name: string;
  /** Keyed by their names. A command that has only one thing to do has one verb, without a name. */
  readonly verbs: Readonly<Record<string, V>>;
  readonly notes?: string;
}

export interface Command {
  readonly description: CommandDescription;
  run(args: readonly string[]): Promise<number>;
}

/** The verb of a command that has only one thing to do. */
export const ONLY = '';

export const EXIT_FAILED = 1;
export const EXIT_USAGE = 2;

const HELP_FLAGS = ['--help', '-h'];

type Given<A extends readonly (Argument | string)[]> = {
  readonly [N in A[number] as N extends Argument ? N['name'] : N & string]: N extends
    | { readonly isOptional: true }
    | { readonly isOfProfile: true }
    ? string | undefined
    : string;
};

type Values<F extends Flags> = ReturnType<
  typeof parseArgs<{ readonly options: F; readonly allowPositionals: true; readonly strict: true }>
>['values'];

/** Makes a verb. An argument that is only a name is given as a string. */
export function verb<
  Work,
  const A extends readonly (Argument | string)[] = [],
  const F extends Flags = Record<never, never>,
>(
  description: {
    readonly summary: string;
    readonly arguments?: A;
    readonly flags?: F;
    readonly notes?: string;
  },
  plan: (given: Given<A>, flags: Values<F>) => Work | Promise<Work>,
): Verb<Work> {
  return {
    ...description,
    arguments: (description.arguments ?? []).map(
      (argument): Argument => (typeof argument === 'string' ? { name: argument } : argument),
    ),
    flags: description.flags ?? {},
    plan: (given, flags) => plan(given as Given<A>, flags as Values<F>),
  };
}

const OR = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** How the result is wanted. */
export interface Form {
  readonly isJson: boolean;
  /** All flags as given: also those that a frame gives to each of its verbs. */
  readonly flags: Readonly<Record<string, unknown>>;
}

/** Makes a command: reads the arguments, and carries out what the verb makes of them. */
export const createCommand = <Work>(
  description: CommandDescription<Verb<Work>>,
  terminal: Pick<Terminal, 'print' | 'complain'>,
  carryOut: (work: Work, form: Form) => Promise<number>,
): Command => ({
  description,
  async run(args) {
    const { name, verbs } = description;
    const [verbName = '', ...rest] = ONLY in verbs ? [ONLY, ...args] : args;
    const chosen = Object.hasOwn(verbs, verbName) ? verbs[verbName] : undefined;
    if (args.some((argument) => HELP_FLAGS.includes(argument))) {
      terminal.print(helpOf(description, chosen === undefined ? null : verbName));
      return 0;
    }
    try {
      if (chosen === undefined) {
        const { meantName } = await import('../std/nearest-name.ts');
        const names = Object.keys(verbs);
        const near = meantName(verbName, names);
        const hint = near === null ? '' : `; did you mean ${near}?`;
        throw new UsageError(`${name} needs ${OR.format(names)}${hint}\n\n${helpOf(description)}`);
      }
      const { values, positionals } = readFlags(rest, chosen.flags);
      const hasProfile = values['profile'] !== undefined;
      const expected = chosen.arguments.filter(({ isOfProfile }) => !(isOfProfile && hasProfile));
      const given = readPositionals(positionals, expected);
      requireChoices(chosen, expected, given, values);
      const work = await chosen.plan(given, values);
      return await carryOut(work, { isJson: values['json'] === true, flags: values });
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      terminal.complain(error.message);
      return EXIT_USAGE;
    }
  },
});

/** Refuses a value that is none of those that an argument or a flag may have. */
function requireChoices(
  { flags }: VerbDescription,
  expected: readonly Argument[],
  given: Readonly<Record<string, string>>,
  values: Readonly<Record<string, unknown>>,
): void {
  for (const argument of expected)
    requireChoice(`<${argument.name}>`, argument, given[argument.name]);
  for (const [name, flag] of Object.entries(flags)) {
    for (const value of [values[name]].flat()) requireChoice(`--${name}`, flag, value);
  }
}

function requireChoice(
  name: string,
  { choices, alsoTakes }: Pick<Flag, 'choices' | 'alsoTakes'>,
  value: unknown,
): void {
  if (choices === undefined || typeof value !== 'string') return;
  if (choices.includes(value) || alsoTakes?.(value) === true) return;
  throw new UsageError(`${name} must be ${OR.format(choices)}, not ${value}`);
}

const JSON_FLAG = { json: { type: 'boolean', about: 'print JSON, for programs' } } as const;

type Verbs<Work> = Readonly<Record<string, Verb<Work>>>;

/** The same verbs with the flag `--json`. */
export const withJson = <Work>(verbs: Verbs<Work>): Verbs<Work> =>
  Object.fromEntries(
    Object.entries(verbs).map(([name, plain]) => [
      name,
      { ...plain, flags: { ...plain.flags, ...JSON_FLAG } },
    ]),
  );

/** A value as JSON that people can read, too. */
export const printedJson = (value: unknown): string => JSON.stringify(value, null, 2);
