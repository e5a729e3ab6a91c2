/**
 * No library makes the language's own objects slow for all of the engine: V8 looks up each method
 * of them in a hash table then. A class that extends String did that to every string; a patch of
 * its library undoes it.
 */

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';

const SOURCES = join(import.meta.dirname, '..', '..', 'src');
/** What every statement of the hot path uses. */
const OBJECTS = ['String', 'Array', 'Map', 'Set', 'Promise', 'Function', 'Object', 'Uint8Array'];

/** Which of the objects are slow after the import of a file of the program. */
const slowAfter = async (file: string): Promise<readonly string[]> => {
  const script = `
    await import(${JSON.stringify(join(SOURCES, file))});
    const objects = ${JSON.stringify(OBJECTS)};
    console.log(JSON.stringify(objects.filter((name) => !%HasFastProperties(globalThis[name].prototype))));
    process.exit();`;
  const flags = ['--allow-natives-syntax', '--input-type=module', '--eval', script];
  const { stdout } = await promisify(execFile)(process.execPath, flags);
  return JSON.parse(stdout) as readonly string[];
};

t.test('V8 tells a slow one', async (t) => {
  const script = 'class Text extends String {} console.log(%HasFastProperties(String.prototype))';
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--allow-natives-syntax',
    '--eval',
    script,
  ]);
  t.equal(stdout.trim(), 'false');
});

// The Redis client is loaded only where a Redis is configured.
for (const file of ['engine.js', 'tag-index/redis/open.js']) {
  t.test(`none is slow after ${file}`, async (t) => t.same(await slowAfter(file), []));
}
