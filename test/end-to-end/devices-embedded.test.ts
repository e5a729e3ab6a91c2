/** See devices-story.ts: with the embedded store, which only the running engine can write to. */

import t from 'tap';
import { seedEmbedded } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { devicesStory } from './devices-story.ts';

t.setTimeout(300_000);

await t.test('embedded: through the running engine', async (t) => {
  const dataDir = temporaryDirectory(t);
  seedEmbedded(dataDir);
  await devicesStory(t, dataDir, {});
});
