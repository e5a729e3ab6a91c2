/** docs/cli.md has the help of every command and verb, as the program prints it. */

import t from 'tap';
import { ONLY } from '../../src/cli/command.ts';
import { helpOf } from '../../src/cli/help.ts';
import { loadCommands } from '../support/commands.ts';
import { readText } from '../support/documents.ts';

t.test('every command and verb stands in it, and nothing else does', async (t) => {
  const sections = readText('docs/cli.md').split('\n## tagcast ').slice(1);
  const told = new Map(
    sections.map((section) => [
      section.split('\n')[0],
      [...section.matchAll(/^```\n([\s\S]*?)\n```$/gm)].map(([, help]) => help),
    ]),
  );
  const commands = await loadCommands();
  t.same(
    [...told.keys()],
    commands.map(({ name }) => name),
  );
  for (const { name, command } of commands) {
    const verbs = Object.keys(command.description.verbs).filter((verb) => verb !== ONLY);
    const helps = [null, ...verbs].map((verb) => helpOf(command.description, verb));
    t.same(told.get(name), helps, `docs/cli.md: tagcast ${name}`);
  }
});
