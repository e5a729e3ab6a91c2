/**
 * A system on which no binary of uWebSockets.js loads, as Alpine: the engine starts on the front of
 * our own, and says so wherever somebody may look. Here it is Node.js that refuses to load it.
 */

import t from 'tap';
import type { Finding } from '../../src/doctor/finding.ts';
import { appOf } from '../support/client.ts';
import { enginePlace } from '../support/engine-place.ts';
import { NODE_FLAGS } from '../support/node-flags.ts';
import { runCommand, startEngine } from '../support/processes.ts';

const WITHOUT_BINARIES = { nodeFlags: [...NODE_FLAGS, '--no-addons'] };
const REASON = /@uwsjs\/\S+ (?:20\.\d+\.\d+ does not load: .*addons is disabled|is not installed)/;
const OPERATOR_TOKEN = 'the-token-of-an-operator-of-this-test';

t.setTimeout(240_000);

t.test('auto takes the front of our own, and says why', async (t) => {
  const { dataDir, environment } = await enginePlace(t);
  const settings = { ...environment, OPERATOR_TOKEN };
  const engine = await startEngine(t, dataDir, settings, WITHOUT_BINARIES);
  const [line = ''] = /^.*"msg":"listening".*$/m.exec(engine.output()) ?? [];
  const { front } = JSON.parse(line) as { readonly front: string };
  t.match(front, REASON);
  t.match(front, /^node \([^()]+[^.()]\)$/, 'in parentheses, without a full stop');

  const demo = engine.demo();
  const device = { appId: demo.appId, platformId: 3, deviceId: 'ab'.repeat(32) };
  const { body } = await appOf(demo).request('POST', '/push-api/reg', {
    body: { ...device, tagId: demo.tagIds.slice(0, 1) },
  });
  t.equal(body, 'OK', 'apps are served');

  const headers = { Authorization: `Bearer ${OPERATOR_TOKEN}` };
  const system = await fetch(`${engine.baseUrl}/operator/v1/system`, { headers });
  t.match(await system.json(), { front: { kind: 'node', version: null, reason: REASON } });
  const metrics = await (await fetch(`${engine.baseUrl}/metrics`)).text();
  t.match(metrics, /^tagcast_http_front_info\{front="node",version=""\} 1$/m);

  const place = { ...environment, DATA_DIR: dataDir };
  const { output } = await runCommand(t, ['doctor', '--json'], place, WITHOUT_BINARIES);
  const findings: readonly Finding[] = JSON.parse(output);
  t.match(
    findings.filter(({ about }) => about === 'front'),
    [{ level: 'ok', text: REASON }],
  );
  t.equal(await engine.end('SIGTERM'), 0);
});

t.test('uws refuses to start', async (t) => {
  const { dataDir, environment } = await enginePlace(t);
  const settings = { ...environment, DATA_DIR: dataDir, PORT: '0', HTTP_FRONT: 'uws' };
  const { code, errors } = await runCommand(t, [], settings, WITHOUT_BINARIES);
  t.equal(code, 1);
  t.match(errors, /^HTTP_FRONT: uws cannot be had here: .+ Set it to auto or node, .+\.\n$/);
  t.match(errors, REASON);
});
