/** Wrong arguments: every command says which, opens nothing, and exits with 2. */

import type { Test } from 'tap';
import t from 'tap';
import type { Command, Flag, VerbDescription } from '../../src/cli/command.ts';
import { EXIT_USAGE, ONLY } from '../../src/cli/command.ts';
import { loadCommands } from '../support/commands.ts';

/** No value of any flag or argument that a command reads, and no file. */
const NONSENSE = '/no such/ value, or file?';
/** Arguments that only the engine can judge, with a value that it may take. */
const GIVEN: Readonly<Record<string, string>> = { app: '1', file: '-', url: 'https://localhost' };
/** Placeholders of values that a command reads itself. */
const READ_HERE = new Set([
  ...['n', 'app', 'number|default', '0–168', 'date', 'records', 'platform.ordinal', 'file'],
]);
/** Written, not read. */
const WRITTEN = new Set(['output', 'state', 'accounts-file', 'certificate-file']);

/** Runs a command; returns its exit code and what it complained about. */
async function run(t: Test, command: Command, args: readonly string[]) {
  let complaint = '';
  const standardError = t.capture(process.stderr, 'write', (text) => {
    complaint += String(text);
    return true;
  });
  try {
    const code = await command.run(args);
    return { code, complaint };
  } finally {
    standardError.restore();
  }
}

const givenFor = ({ arguments: expected }: VerbDescription): readonly string[] =>
  expected
    .filter(({ isOptional }) => isOptional !== true)
    .map(({ name, choices }) => GIVEN[name] ?? choices?.[0] ?? 'some');

const isReadHere = (name: string, { type, choices, value }: Flag): boolean =>
  type === 'string' && !WRITTEN.has(name) && (choices !== undefined || READ_HERE.has(value ?? ''));

for (const { name, command } of await loadCommands()) {
  t.test(name, async (t) => {
    const { verbs } = command.description;
    const wrong = async (args: readonly string[], complaint: string) => {
      const line = [name, ...args].join(' ');
      const ended = await run(t, command, args);
      t.equal(ended.code, EXIT_USAGE, line);
      t.ok(ended.complaint.includes(complaint), `${line}: ${ended.complaint}`);
    };
    if (!(ONLY in verbs)) {
      await wrong([], `${name} needs `);
      await wrong(['nonsense'], `${name} needs `);
    }
    for (const [verbName, verb] of Object.entries(verbs)) {
      const start = verbName === ONLY ? [] : [verbName];
      const given = [...start, ...givenFor(verb)];
      const expected = verb.arguments.length;
      const optional = verb.arguments.filter(({ isOptional }) => isOptional === true).length;
      await wrong([...given, '--nonsense'], '--nonsense');
      const tooMany = [...given, ...Array.from({ length: optional }, () => 'more'), 'extra'];
      await wrong(tooMany, 'unexpected argument extra');
      if (expected > optional) await wrong(start, ' is missing');
      for (const [at, argument] of verb.arguments.entries()) {
        if (argument.choices === undefined && argument.name !== 'app') continue;
        await wrong(given.with(start.length + at, NONSENSE), NONSENSE);
      }
      for (const [flag, read] of Object.entries(verb.flags)) {
        if (read.type === 'string') await wrong([...given, `--${flag}`], `--${flag}`);
        if (isReadHere(flag, read)) {
          const args = [...given, `--${flag}`, NONSENSE];
          const ended = await run(t, command, args);
          t.equal(ended.code, EXIT_USAGE, [name, ...args].join(' '));
        }
      }
    }
  });
}
