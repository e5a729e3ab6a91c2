/**
 * A commit that the disk does not take: PGlite would swallow the error and go on, so the thread
 * ends, and the process with it.
 */

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { post, untilReady } from '../../support/client.ts';
import { runCommand, startEngine } from '../../support/processes.ts';
import { seedEmbedded } from '../../support/store.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** No fsync succeeds while the file `broken` lies beside it. */
const BROKEN_DISK = `
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const { fsyncSync } = fs;
fs.fsyncSync = (file) => {
  if (!fs.existsSync(new URL('broken', import.meta.url))) return fsyncSync(file);
  throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO', syscall: 'fsync' });
};
syncBuiltinESMExports();
`;

t.test('a commit that the disk does not take is not answered, and ends the process', async (t) => {
  const directory = temporaryDirectory(t, { 'disk.mjs': BROKEN_DISK });
  const broken = join(directory, 'broken');
  const dataDir = temporaryDirectory(t);
  seedEmbedded(dataDir);
  const settings = {
    EMBEDDED_FSYNC: '1',
    NODE_OPTIONS: `--import=${join(directory, 'disk.mjs')}`,
  };
  const engine = await startEngine(t, dataDir, settings);
  const { appId, apiUser, tagIds } = engine.demo();
  const register = (baseUrl: string, n: number): Promise<Response> => {
    const deviceId = String(n).padStart(64, '0');
    const device = { appId, platformId: 3, tagId: tagIds.slice(0, 1), deviceId };
    return post(`${baseUrl}/push-api/reg`, apiUser.token, device);
  };
  t.equal(await (await register(engine.baseUrl, 1)).text(), 'OK');
  writeFileSync(broken, '');
  await t.rejects(register(engine.baseUrl, 2), 'no answer');
  t.equal(await engine.ended, 1);
  t.match(
    engine.output(),
    /^The embedded database has stopped: its disk did not take what was written \(EIO: .*\)\. Start/m,
  );

  const refused = await runCommand(t, [], { PORT: '0', DATA_DIR: dataDir, ...settings });
  t.match(refused, { code: 1, errors: /^DATA_DIR: [^\n]+: its disk fails[^\n]+EIO[^\n]+\n$/ });
  rmSync(broken);
  const again = await startEngine(t, dataDir, settings);
  await untilReady(again.baseUrl);
});
