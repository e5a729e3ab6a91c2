/** Each worker thread loads its code again, so what it does not need stays out of it. */

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import t from 'tap';

const DIST = join(import.meta.dirname, '..', '..', '..');
/** Static imports: others wait until they are called. */
const IMPORT = /^(?:import|export)\b[^;]*?\bfrom '([^']+)';|^import '([^']+)';/gm;

/** All modules that a built file loads, itself included: paths from dist on, and packages. */
function loadedBy(entry: string): ReadonlySet<string> {
  const loaded = new Set([entry]);
  for (const file of loaded) {
    if (!existsSync(join(DIST, file))) continue;
    for (const [, from, alone] of readFileSync(join(DIST, file), 'utf8').matchAll(IMPORT)) {
      const named = from ?? alone ?? '';
      loaded.add(named.startsWith('.') ? normalize(join(dirname(file), named)) : named);
    }
  }
  return loaded;
}

t.test('a worker checks no forms and signs nothing: it loads neither zod nor jose', (t) => {
  const loaded = loadedBy('src/push/worker/entry.js');
  for (const needed of ['postgres', 'src/providers/providers.js', 'src/transport/http2/dial.js']) {
    t.ok(loaded.has(needed), needed);
  }
  for (const heavy of ['zod', 'jose']) t.notOk(loaded.has(heavy), heavy);
  t.ok(loadedBy('src/providers/fcm/credential-form.js').has('zod'), 'they are found');
  t.end();
});
