/** See roll-over.ts: on the embedded store. */

import t from 'tap';
import { seedEmbedded } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { rollOver } from './roll-over.ts';

t.setTimeout(300_000);

t.test('embedded', async (t) => {
  const dataDir = temporaryDirectory(t);
  seedEmbedded(dataDir);
  await rollOver(t, dataDir, { WORKERS: '1' });
});
