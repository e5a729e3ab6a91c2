import { pino } from 'pino';
import t from 'tap';
import { Stranded } from '../../../src/push/dispatch/stranded.ts';
import { readStatus } from '../../../src/push/sql/notifications/read-status.ts';
import { makeNotification, makeRunning, makeTenant } from '../../support/notifications.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { until } from '../../support/poll.ts';
import { fanOutFor } from '../../support/sending.ts';
import { SILENT_JOURNAL } from '../../support/silent-journal.ts';
import { freshSimulator } from '../../support/simulator.ts';

const simulator = await freshSimulator();

await onEachStore(t, {
  'a send that is recorded to its end and open is ended at the start': async (t, store) => {
    const { sql } = store;
    const tenant = await makeTenant(sql, 'stranded');
    const id = await makeRunning(sql, tenant, 10);
    await sql`delete from chunks where notification_id = ${id}`;
    await sql`update notifications set open_chunks = 0 where id = ${id}`;
    await sql`update notification_scopes set total = 10, delivered = 10 where notification_id = ${id}`;
    const fanOut = await fanOutFor(t, store, simulator);
    const row = await until('it has ended', async () => {
      const [row] = (await readStatus(sql, tenant.clientId, id)) ?? [];
      return row?.state === 'FINISHED' ? row : null;
    });
    t.match(row, { total: 10, delivered: 10 });
    await fanOut.drain();
  },

  'what waits, is open or has ended stays as it is': async (t, { sql }) => {
    const tenant = await makeTenant(sql, 'not-stranded');
    const open = await makeRunning(sql, tenant, 10);
    const waiting = await makeNotification(sql, tenant);
    const told: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line) => told.push(line) });
    await new Stranded(sql, log, SILENT_JOURNAL).run();
    const rows = await sql`
      select id, state from notifications where id in ${sql([open, waiting])} order by state`;
    t.strictSame(
      rows.map(({ state }) => state),
      ['QUEUED', 'RUNNING'],
    );
    t.strictSame(told, []);
  },
});
