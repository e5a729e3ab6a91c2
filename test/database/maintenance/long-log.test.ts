/** The log of the embedded database does not grow for ever. */

import t from 'tap';
import { checkpointLongLog } from '../../../src/database/maintenance/long-log.ts';
import { temporaryEmbedded } from '../../support/store.ts';

const MEBIBYTE = 1_048_576;

t.test('a long log is ended by a checkpoint, and a short one is left alone', async (t) => {
  const { sql } = await temporaryEmbedded(t);
  const write = (mebibytes: number) =>
    sql`
      select count(pg_logical_emit_message(true, 'test', repeat('x', ${MEBIBYTE}::integer)))
      from generate_series(1, ${mebibytes}::integer)`;
  await sql`checkpoint`;
  t.equal(await checkpointLongLog(sql), false);
  await write(40);
  t.equal(await checkpointLongLog(sql), false);
  await write(40);
  t.equal(await checkpointLongLog(sql), true);
  t.equal(await checkpointLongLog(sql), false);
});
