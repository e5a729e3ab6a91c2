/**
 * The servers that `register/fronts` compares: the service on each front that this Node can load,
 * and the straightforward server, each in clear text and in TLS with the same certificate.
 */

import { join } from 'node:path';
import { generate } from 'selfsigned';
import type { Lifetime } from '../../../test/support/lifetime.ts';
import type { EngineProcess } from '../../../test/support/processes.ts';
import { startEngine } from '../../../test/support/processes.ts';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import type { Certificate } from '../../baselines/baseline.ts';
import { registerKnownDevices } from '../../loads/autocannon.ts';
import type { Server, Stores } from './grounds.ts';
import { FEW_TAGS, serverOf, startStraightforward, targetDataOf } from './grounds.ts';

/** All on one PostgreSQL and one Redis. The engines share the app and its devices. */
export async function startFrontServers(
  stage: Lifetime,
  stores: Stores,
): Promise<readonly Server[]> {
  const certificate = await makeCertificate();
  const encrypted = settingsOf(stage, certificate);
  const start = (settings: Readonly<Record<string, string>>): Promise<EngineProcess> =>
    startEngine(stage, temporaryDirectory(stage), { ...stores.environment, ...settings });
  const ownPlain = await start({ HTTP_FRONT: 'node' });
  const data = await targetDataOf(ownPlain);
  const own = serverOf('ours, node', data, ownPlain);
  await registerKnownDevices(own.target, FEW_TAGS);
  const servers = [
    own,
    serverOf('ours, node', data, await start({ HTTP_FRONT: 'node', ...encrypted })),
  ];
  const uws = await start({ HTTP_FRONT: 'uws' }).catch((error: Error) => error);
  if (uws instanceof Error) {
    const reason = uws.message.trimEnd().split('\n').at(-1);
    console.log(`(Node ${process.version} has no front on uWebSockets.js here: ${reason})`);
  } else {
    servers.push(
      serverOf('ours, uws', data, uws),
      serverOf('ours, uws', data, await start({ HTTP_FRONT: 'uws', ...encrypted })),
    );
  }
  for (const [index, pem] of [null, certificate].entries()) {
    servers.push(
      await startStraightforward(stage, stores, data, {
        redisDatabase: index + 1,
        knownTags: [FEW_TAGS],
        certificate: pem,
      }),
    );
  }
  return servers;
}

/** Small and quick, as those are that people get today. */
async function makeCertificate(): Promise<Certificate> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    curve: 'P-256',
  });
  return { cert, key };
}

/** Makes an engine speak TLS. */
function settingsOf(stage: Lifetime, { cert, key }: Certificate): Readonly<Record<string, string>> {
  const directory = temporaryDirectory(stage, { 'cert.pem': cert, 'key.pem': key });
  return {
    TLS_CERT_FILE: join(directory, 'cert.pem'),
    TLS_KEY_FILE: join(directory, 'key.pem'),
  };
}
