/** See devices-story.ts: on PostgreSQL. */

import t from 'tap';
import { withPostgres } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { devicesStory } from './devices-story.ts';

t.setTimeout(300_000);

await withPostgres(t, async (t, url) => {
  const environment = {
    DATABASE_URL: url,
    SECRET_KEY: 'a secret of the import tests, long enough',
    DEMO: '1',
  };
  await devicesStory(t, temporaryDirectory(t), environment);
});
