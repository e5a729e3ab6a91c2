/**
 * The data directory of the real program: a disk without room is a sentence, and costs nothing but
 * the room.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { makeDirectory } from '../../../src/database/embedded/data-dir.ts';
import { untilReady } from '../../support/client.ts';
import { until } from '../../support/poll.ts';
import { runCommand, startEngine } from '../../support/processes.ts';
import { fillDisk, smallDisk } from '../../support/small-disk.ts';
import { seedEmbedded } from '../../support/store.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const FULL =
  /^DATA_DIR: [^\n]+: its disk is full, with \d+ MiB free: a first start needs 48 MiB, a later one up to 17\. Make room and start again; nothing is lost\.\n$/;

t.test(
  'a first start that cannot write its files leaves nothing that stops the next one',
  async (t) => {
    const dataDir = temporaryDirectory(t);
    // No file above 4 or 8 MiB, by the unit of the shell: too little for a file of PostgreSQL's
    // log, on every machine.
    const limited = ['sh', '-c', 'ulimit -f 8192; exec "$@"', 'sh'];
    const settings = { PORT: '0', DATA_DIR: dataDir };
    const { code, errors } = await runCommand(t, [], settings, { under: limited });
    t.equal(code, 1);
    t.match(errors, FULL);
    const engine = await startEngine(t, dataDir);
    await untilReady(engine.baseUrl);
  },
);

t.test('a first start on a full disk does not begin', async (t) => {
  const disk = smallDisk(t, 20);
  if (disk === null) return t.comment('no disk of its own can be mounted here');
  const dataDir = join(disk, 'data');
  const { code, errors } = await runCommand(t, [], { PORT: '0', DATA_DIR: dataDir });
  t.equal(code, 1);
  t.match(errors, FULL);
  t.notOk(existsSync(join(dataDir, 'postgres')));
});

t.test('a later start, and a service at work', async (t) => {
  const disk = smallDisk(t, 72);
  if (disk === null) return t.comment('no disk of its own can be mounted here');
  seedEmbedded(disk);
  const empty = fillDisk(disk);
  const { code, errors } = await runCommand(t, [], { PORT: '0', DATA_DIR: disk });
  t.equal(code, 1);
  t.match(errors, /^DATA_DIR: [^\n]+: its disk is full[^\n]+nothing is lost[^\n]+\n$/);
  empty();

  const engine = await startEngine(t, disk);
  const ready = (status: number) =>
    until(`/readyz is ${status}`, async () => {
      const answer = await fetch(`${engine.baseUrl}/readyz`);
      return answer.status === status ? answer : null;
    });
  await ready(200);
  const emptyAgain = fillDisk(disk);
  await until('it cannot write', async () => {
    const answer = await ready(503);
    return (await answer.text()).includes('"postgres":"cannot write"') ? true : null;
  });
  const { appId, apiUser } = engine.demo();
  const tags = await fetch(`${engine.baseUrl}/push-api/tags`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${apiUser.token}` },
    body: JSON.stringify({ appId, platformId: 3 }),
  });
  t.equal(tags.status, 200, 'reading goes on');
  emptyAgain();
  await ready(200);
  await until('the log says so', () => engine.output().match(/takes writes again/));
  t.equal(engine.output().match(/takes no writes/g)?.length, 1, 'the log is told once');
});

t.test('directories are made with those above them, and a place that has none is an error', (t) => {
  const path = join(temporaryDirectory(t), 'a', 'b', 'c');
  makeDirectory(path);
  t.ok(existsSync(path));
  makeDirectory(path);
  if (process.platform === 'linux')
    t.throws(() => makeDirectory('/proc/tagcast/a'), { code: 'ENOENT' });
  t.end();
});
