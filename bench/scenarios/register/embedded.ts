/** Registrations over HTTP on the embedded store, with and without fsync. */

import type { Lifetime } from '../../../test/support/lifetime.ts';
import { startEngine } from '../../../test/support/processes.ts';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { autocannonLoad, registerKnownDevices } from '../../loads/autocannon.ts';
import type { Kind } from '../../loads/load.ts';
import { findWrk } from '../../loads/wrk.ts';
import type { Result } from '../../scenario.ts';
import type { Server, ServerName } from './grounds.ts';
import { FEW_TAGS, serverOf, targetDataOf } from './grounds.ts';
import type { RegisterRow } from './rounds.ts';
import { measureRound, mediansOf } from './rounds.ts';

const FSYNC: readonly (readonly [name: ServerName, setting: string])[] = [
  ['embedded', '1'],
  ['embedded, no fsync', '0'],
];
const KINDS: readonly Kind[] = ['new', 'repeated'];
const ROUNDS = 3;
const ROUND_SECONDS = 5;
const WARM_UP_SECONDS = 2;
const CONNECTIONS = 64;
/** The store has no process of its own. */
const NO_STORES = { storesCpuMicros: () => 0 };

export async function measureEmbedded(stage: Lifetime): Promise<Result> {
  const servers: Server[] = [];
  for (const [name, setting] of FSYNC) {
    const settings = { EMBEDDED_FSYNC: setting };
    const engine = await startEngine(stage, temporaryDirectory(stage), settings);
    const server = serverOf(name, await targetDataOf(engine), engine);
    await registerKnownDevices(server.target, FEW_TAGS);
    servers.push(server);
  }
  const load = findWrk(stage) ?? autocannonLoad;
  const asked = { connections: CONNECTIONS, tags: FEW_TAGS };
  for (const { target } of servers) {
    await load.run(target, { ...asked, seconds: WARM_UP_SECONDS, kind: 'new' });
  }
  const rounds: RegisterRow[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const kind of KINDS) {
      for (const server of servers) {
        const each = { ...asked, seconds: ROUND_SECONDS, kind };
        rounds.push(await measureRound(NO_STORES, server, load, each));
      }
    }
  }
  return { rows: mediansOf(rounds) };
}
