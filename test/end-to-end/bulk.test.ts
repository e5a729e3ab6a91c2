/** See roll-over.ts: on PostgreSQL. */

import t from 'tap';
import { withPostgres } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { rollOver } from './roll-over.ts';

t.setTimeout(300_000);

t.test('on PostgreSQL', (t) =>
  withPostgres(t, (t, url) =>
    rollOver(t, temporaryDirectory(t), {
      WORKERS: '1',
      DATABASE_URL: url,
      SECRET_KEY: 'a secret of this test, long enough',
      DEMO: '1',
    }),
  ),
);
