/**
 * No library makes the language's own objects slow for all of the engine: V8 looks up each method
 * of them in a hash table then. A class that extends String did that to every string, until
 * `tag-index/redis/connect.ts` made an instance of it.
 */

import { join } from 'node:path';
import type { Test } from 'tap';
import t from 'tap';
import { runProgram } from '../../../support/programs.ts';

const SOURCES = join(import.meta.dirname, '..', '..', '..', '..', 'src');
/** Objects that every statement of the hot path uses. */
const OBJECTS = ['String', 'Array', 'Map', 'Set', 'Promise', 'Function', 'Object', 'Uint8Array'];

/** Which of the objects are slow after a piece of a module. */
async function slowAfter(t: Test, piece: string): Promise<unknown> {
  const script = `
    ${piece}
    const objects = ${JSON.stringify(OBJECTS)};
    console.log(JSON.stringify(objects.filter((name) => !%HasFastProperties(globalThis[name].prototype))));
    process.exit();`;
  const flags = ['--allow-natives-syntax', '--input-type=module', '--eval', script];
  const { code, out, err } = await runProgram(t, process.execPath, flags);
  t.equal(code, 0, err);
  return JSON.parse(out.toString());
}

t.test('V8 tells a slow one', async (t) =>
  t.same(await slowAfter(t, 'class Text extends String {}'), ['String']),
);

// The Redis client is loaded only where a Redis is configured.
for (const file of ['app/engine/engine.js', 'tag-index/redis/open.js']) {
  const piece = `await import(${JSON.stringify(join(SOURCES, file))});`;
  t.test(`none is slow after ${file}`, async (t) => t.same(await slowAfter(t, piece), []));
}
