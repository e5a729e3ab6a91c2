/** A real engine, and bodies at their limit of bytes that hold as many values as fit. */

import { readFileSync } from 'node:fs';
import t from 'tap';
import { startEngine } from '../support/processes.ts';
import { registerFromElsewhere } from '../support/register-from-elsewhere.ts';
import { seedEmbedded } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** The requirement: 48 such bodies at once, and memory grows by less than 200 MB. */
const BODIES = 48;
const GROWTH_MB_MAX = 200;
/** Together with what is around them a little less than a body may have. */
const VALUES = 349_000;
/** Refused before it becomes an object: it has too many values, or there is no room for more. */
const REFUSALS = new Set([400, 413, 429, 503]);

t.setTimeout(240_000);

t.test('bodies of a megabyte of empty objects are refused before they are parsed', async (t) => {
  const dataDir = temporaryDirectory(t);
  seedEmbedded(dataDir);
  const engine = await startEngine(t, dataDir);
  const demo = engine.demo();
  const port = Number(new URL(engine.baseUrl).port);
  const filling = `{"tagIds":[1],"payload":{"title":"a","data":[${'{},'.repeat(VALUES)}{}]}}`;
  const beforeMb = peakMb(engine.child.pid);
  const answers = Promise.all(
    Array.from({ length: BODIES }, async () => {
      const answer = await fetch(`${engine.baseUrl}/push-api/push`, {
        method: 'POST',
        headers: { authorization: `Bearer ${demo.superUser.token}` },
        body: filling,
      });
      await answer.text();
      return answer.status;
    }),
  );
  t.equal(await registerFromElsewhere(demo, port, 1), 'OK', 'others are served beside them');
  const statuses = await answers;
  t.strictSame(
    statuses.filter((status) => !REFUSALS.has(status)),
    [],
    `${BODIES} refusals`,
  );
  const growthMb = peakMb(engine.child.pid) - beforeMb;
  t.ok(growthMb < GROWTH_MB_MAX, `memory grew by ${growthMb.toFixed(0)} MB at its peak`);
});

/** The most that the process has had in memory so far. */
function peakMb(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1_024;
}
