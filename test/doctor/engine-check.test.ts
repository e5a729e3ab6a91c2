/** Whether the engine beside the doctor answers, and who can reach it. */

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import t from 'tap';
import type { EngineSettings } from '../../src/doctor/engine-check.ts';
import { checkEngine } from '../../src/doctor/engine-check.ts';

const settings = (more: Partial<EngineSettings> = {}): EngineSettings => ({
  HOST: '127.0.0.1',
  PORT: 0,
  TRUSTED_PROXIES: [],
  ...more,
});

async function serve(t: Test, status: number, body: string): Promise<number> {
  const server = createServer((_request, response) => response.writeHead(status).end(body));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

t.test('what /readyz says', async (t) => {
  const ready = await checkEngine(settings({ PORT: await serve(t, 200, '{}'), HOST: '0.0.0.0' }));
  t.match(ready[0], { about: 'engine', level: 'ok', text: /127\.0\.0\.1:\d+\/readyz/ });
  const body = '{"stores":{"database":"unreachable"}}';
  const [not] = await checkEngine(settings({ PORT: await serve(t, 503, body) }));
  t.match(not, { level: 'problem', text: /503, not ready: \{"database":"unreachable"\}/ });
  const [other] = await checkEngine(settings({ PORT: await serve(t, 404, 'not ours') }));
  t.match(other, { level: 'problem', text: /answers 404, not ready\. Its log/ });
  const [away] = await checkEngine(settings({ PORT: 1 }));
  t.match(away, { level: 'warning', text: /nothing answers .*ECONNREFUSED/ });
  t.match(await checkEngine(settings()), [{ level: 'warning', text: /PORT is 0/ }, {}]);
});

t.test('who can reach it', async (t) => {
  const about = async (more: Partial<EngineSettings>) =>
    (await checkEngine(settings(more))).slice(1);
  t.match(await about({}), [{ about: 'proxies', level: 'ok', text: /only this machine/ }]);
  t.match(await about({ HOST: '::1' }), [{ level: 'ok' }]);
  t.match(await about({ HOST: '0.0.0.0' }), [{ level: 'warning', text: /without TLS/ }]);
  t.same(await about({ HOST: '0.0.0.0', TLS_CERT_FILE: '/x.pem' }), []);
  const behind = await about({ HOST: '0.0.0.0', TRUSTED_PROXIES: ['10.0.0.1'] });
  t.match(behind, [{ level: 'ok', text: /from 10\.0\.0\.1/ }]);
});
