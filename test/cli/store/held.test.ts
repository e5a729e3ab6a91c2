/** An engine that starts on a PostgreSQL during a move from there waits, or stops the move. */

import type { Test } from 'tap';
import t from 'tap';
import { readConfig } from '../../../src/app/config.ts';
import { moveStore } from '../../../src/app/open/open-move.ts';
import type { MoveReport } from '../../../src/database/move/move.ts';
import { joinNodes } from '../../../src/database/nodes/beats.ts';
import { openPostgres } from '../../../src/database/store.ts';
import { makeTenant } from '../../support/notifications.ts';
import { until } from '../../support/poll.ts';
import { seedEmbedded, withPostgres } from '../../support/store.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const SILENT: MoveReport = { step: () => undefined, copied: () => undefined };

await withPostgres(t, async (t, url) => {
  const { sql, close } = await openPostgres(url);
  t.teardown(close);
  await makeTenant(sql, 'acme');
  const move = (t: Test, report: MoveReport) => {
    const read = readConfig({ DATABASE_URL: url, SECRET_KEY: 'x'.repeat(32) });
    if (!read.ok) throw new Error(read.faults.join(' '));
    const copy = temporaryDirectory(t);
    seedEmbedded(copy);
    return moveStore(copy, read.config, report);
  };

  await t.test('one that has begun to join is seen', async (t) => {
    const refused = await sql.begin(async (tx) => {
      await joinNodes(tx, 'here', 42);
      const moving = move(t, SILENT).then(
        () => 'it was moved',
        (error: Error) => error.message,
      );
      await until('the move waits', async () => {
        const waiting = await sql`
          select from pg_locks where not granted and relation = 'nodes'::regclass
            and database = (select oid from pg_database where datname = current_database())`;
        return waiting.length > 0 ? true : null;
      });
      // It has beaten just now, however long the move took to come so far.
      await tx`update nodes set seen_at = clock_timestamp()`;
      return { moving };
    });
    t.match(await refused.moving, /^DATABASE_URL: an engine is at work .+process 42 on here/);
    await sql`delete from nodes`;
  });

  await t.test('one that joins later waits for the end', async (t) => {
    const events: string[] = [];
    const joining: Promise<unknown>[] = [];
    await move(t, {
      ...SILENT,
      step(step) {
        events.push(step);
        if (step === 'copy') {
          joining.push(joinNodes(sql, 'here', 42).then(() => events.push('joined')));
        }
      },
    });
    await Promise.all(joining);
    t.same(events, ['look', 'prepare', 'copy', 'compare', 'connect', 'commit', 'joined']);
  });
});
