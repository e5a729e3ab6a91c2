/** Stacks name the places of the sources, in the test's own process and in its threads. */

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import t from 'tap';

interface Thrower {
  throwIt(): never;
}

// What is between here and the fault is not in the built file: the lines of the two differ.
const thrower: Thrower = {
  throwIt() {
    throw new TypeError('a fault of the test');
  },
};

const SOURCE = join(
  import.meta.dirname,
  '..',
  '..',
  '..',
  'test',
  'support',
  'source-maps.test.ts',
);
const lines = readFileSync(SOURCE, 'utf8').split('\n');
const place = `${SOURCE}:${lines.findIndex((line) => line.includes('throw new TypeError')) + 1}:`;

t.test('an error', (t) => {
  try {
    thrower.throwIt();
  } catch (error) {
    const [head, frame = ''] = String((error as Error).stack).split('\n');
    t.equal(head, 'TypeError: a fault of the test');
    t.ok(frame.startsWith('    at '), frame);
    t.ok(frame.includes(place), frame);
  }
  t.end();
});

t.test('what has no stack of its own, and what no file holds', (t) => {
  const made: { stack?: string } = {};
  Error.captureStackTrace(made);
  t.match(made.stack, 'source-maps.test.ts');
  const frame = Reflect.construct(Function, ["return new Error('x').stack"])() as string;
  t.match(frame, /^Error: x\n {4}at eval \(/);
  t.end();
});

t.test('a thread has them too', async (t) => {
  const built = join(import.meta.dirname, 'source-maps.test.js');
  const code = `import { findSourceMap } from 'node:module';
    import { parentPort } from 'node:worker_threads';
    parentPort.postMessage(findSourceMap(${JSON.stringify(built)}).payload.sources);`;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`));
  const [sources] = await once(worker, 'message');
  t.strictSame(sources, [pathToFileURL(SOURCE).href]);
});
