/**
 * The program with one thing wrong: exit code 1 and one line, which names the setting and holds no
 * secret and no stack.
 */

import type { Test } from 'tap';
import { runCommand } from './processes.ts';
import { runHere } from './run-here.ts';

export type Environment = Readonly<Record<string, string>>;
export type Case = readonly [name: string, environment: Environment, line: RegExp];

export const PASSWORD = 'Pa55-of-the-test';
export const SECRET_KEY = 'K3y-of-the-test, which is long enough';
const STACK = /^ +at /m;
export const COMMAND: readonly string[] = ['client', 'list'];

/** The text of the refusal, which has the form that every refusal has. */
export async function refusal(
  t: Test,
  environment: Environment,
  args: readonly string[] = [],
): Promise<string> {
  return assertRefusal(t, await runCommand(t, args, { PORT: '0', ...environment }));
}

/** The same of a command that runs in this process. */
export const refusalHere = async (t: Test, environment: Environment): Promise<string> =>
  assertRefusal(t, await runHere(COMMAND, environment));

function assertRefusal(
  t: Test,
  { code, output, errors }: Awaited<ReturnType<typeof runCommand>>,
): string {
  t.equal(code, 1, 'exit code');
  t.match(errors, /^[A-Z_]+: [^\n]+\.\n$/, 'one line, which begins with a setting');
  t.notMatch(output, STACK, 'no stack, nor in the log');
  for (const secret of [PASSWORD, SECRET_KEY]) t.notOk(output.includes(secret), 'no secret');
  return errors;
}

/**
 * Each of them; a command says the same; who debugs gets the stack, and the secrets no more than
 * others.
 */
export async function holdThrown(t: Test, cases: readonly Case[], { alsoCommand = false } = {}) {
  for (const [name, environment, line] of cases) {
    await t.test(name, async (t) => {
      const said = await refusal(t, environment);
      t.match(said, line);
      const debugging = { PORT: '0', ...environment, LOG_LEVEL: 'debug' };
      // A command reports its faults by the same function as the service.
      const { code, output, errors } = await (alsoCommand
        ? runHere(COMMAND, debugging)
        : runCommand(t, [], debugging));
      t.equal(code, 1);
      t.ok(errors.startsWith(said), 'the same line first');
      t.match(errors, STACK, 'and the stack');
      t.notOk(output.includes(PASSWORD), 'no secret');
      if (alsoCommand) t.equal(await refusalHere(t, environment), said, 'of a command');
    });
  }
}
