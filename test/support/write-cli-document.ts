/**
 * Writes the help of each command and verb into docs/cli.md, in place of what stood there. A new
 * command or verb needs a heading and an empty fence of its own first.
 *
 *     npm run docs:cli
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { helpsOf } from './commands.ts';
import { ROOT, readText } from './documents.ts';

const DOCUMENT = 'docs/cli.md';
const SECTION = '\n## tagcast ';

const [head = '', ...sections] = readText(DOCUMENT).split(SECTION);
const helps = await helpsOf();
const written = sections.map((section) => {
  const rest = [...(helps.get(section.split('\n')[0] ?? '') ?? [])];
  return section.replace(/^```\n(?:[\s\S]*?\n)?```$/gm, () => `\`\`\`\n${rest.shift()}\n\`\`\``);
});
writeFileSync(join(ROOT, DOCUMENT), [head, ...written].join(SECTION));
