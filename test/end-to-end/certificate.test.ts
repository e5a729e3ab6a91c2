/** A certificate that is replaced while apps register, on each front. */

import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import { connect } from 'node:tls';
import t from 'tap';
import { CertificateOnDisk } from '../support/certificate-on-disk.ts';
import { enginePlace } from '../support/engine-place.ts';
import { onEachFront } from '../support/fronts.ts';
import type { Lifetime } from '../support/lifetime.ts';
import { until } from '../support/poll.ts';
import type { EngineProcess } from '../support/processes.ts';
import { startEngine } from '../support/processes.ts';

const NAMES = ['second', 'third', 'fourth'];
/** So many keep their connection, and so many open one for each request. */
const CALLERS = 4;
const { test } = await onEachFront(t);

t.setTimeout(240_000);

interface Secured {
  readonly engine: EngineProcess;
  readonly port: number;
  /** Replaces the certificate by one of this name, and returns when the engine shows it. */
  replace(name: string): Promise<void>;
}

async function startSecured(t: Lifetime, kind: 'node' | 'uws'): Promise<Secured> {
  const { dataDir, environment } = await enginePlace(t);
  const certificate = await CertificateOnDisk.make(t, 'first');
  const settings = { ...environment, ...certificate.settings, HTTP_FRONT: kind, WORKERS: '1' };
  const engine = await startEngine(t, dataDir, settings);
  const port = Number(new URL(engine.baseUrl).port);
  const replace = async (name: string): Promise<void> => {
    await certificate.replace(name);
    engine.child.kill('SIGHUP');
    await until(`${name} is shown`, async () => ((await shownName(port)) === name ? true : null));
  };
  return { engine, port, replace };
}

/** The name in the certificate. Null: the connection was reset. */
async function shownName(port: number): Promise<string | null> {
  const socket = connect({ port, rejectUnauthorized: false });
  try {
    await once(socket, 'secureConnect');
    return String(socket.getPeerCertificate().subject.CN);
  } catch {
    return null;
  } finally {
    socket.destroy();
  }
}

test('SIGHUP shows the new certificate, and ends nothing', async (t, { kind }) => {
  const { engine, port, replace } = await startSecured(t, kind);
  t.equal(await shownName(port), 'first');
  const { appId, apiUser, tagIds } = engine.demo();
  const register = async (agent: Agent | false, deviceId: string): Promise<string> => {
    const call = request({
      ...{ port, host: '127.0.0.1', method: 'POST', path: '/push-api/reg', agent },
      rejectUnauthorized: false,
      headers: { Authorization: `Bearer ${apiUser.token}` },
    });
    call.end(JSON.stringify({ appId, platformId: 3, tagId: [tagIds[0]], deviceId }));
    const [answer] = await once(call, 'response');
    return text(answer);
  };
  const answers = { kept: 0, fresh: 0 };
  const faults = { kept: [] as string[], fresh: [] as string[] };
  let isOver = false;
  const callers = Array.from({ length: 2 * CALLERS }, async (_, caller) => {
    const kind = caller < CALLERS ? 'kept' : 'fresh';
    const agent = kind === 'kept' ? new Agent({ keepAlive: true, maxSockets: 1 }) : false;
    for (let device = 0; !isOver; device += 1) {
      const deviceId = `${caller}${String(device).padStart(63, '0')}`;
      const heard = await register(agent, deviceId).catch((error: Error) => error.message);
      if (heard === 'OK') answers[kind] += 1;
      else faults[kind].push(heard);
    }
    if (agent !== false) agent.destroy();
  });
  for (const name of NAMES) {
    const before = answers.fresh;
    await replace(name);
    await until('more have come', () => (answers.fresh > before + CALLERS ? true : null));
  }
  isOver = true;
  await Promise.all(callers);
  t.match(engine.output(), /"validTo":.*a new certificate is in use/);
  t.comment(`kept: ${answers.kept}, fresh: ${answers.fresh}, reset: ${faults.fresh.length}`);
  t.same(faults.kept, [], 'connections that are open stay as they are');
  // uWebSockets.js resets who waits in the queue of the old one in that moment.
  const resetMax = kind === 'uws' ? NAMES.length * CALLERS : 0;
  t.ok(faults.fresh.length <= resetMax, `${faults.fresh}`);
  t.same(
    faults.fresh.filter((fault) => !/ECONNRESET|socket/.test(fault)),
    [],
  );
  t.equal(await engine.end('SIGTERM'), 0);
});
