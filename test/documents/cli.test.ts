/** docs/cli.md has the help of all commands as the program prints it (`npm run docs:cli`). */

import t from 'tap';
import { helpsOf } from '../support/commands.ts';
import { readText } from '../support/documents.ts';

t.test('every command and verb stands in it, and nothing else does', async (t) => {
  const sections = readText('docs/cli.md').split('\n## tagcast ').slice(1);
  const told = new Map(
    sections.map((section) => [
      section.split('\n')[0],
      [...section.matchAll(/^```\n([\s\S]*?)\n```$/gm)].map(([, help]) => help),
    ]),
  );
  const helps = await helpsOf();
  t.same([...told.keys()], [...helps.keys()]);
  for (const [name, help] of helps) t.same(told.get(name), help, `docs/cli.md: tagcast ${name}`);
});
