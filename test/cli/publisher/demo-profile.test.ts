/** The demo is a profile while it runs: what it left must not lead to the engine after it. */

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { readDemoProfile } from '../../../src/cli/publisher/demo-profile.ts';
import { runHere } from '../../support/run-here.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

t.test('only while its simulator answers', async (t) => {
  const dataDir = temporaryDirectory(t);
  t.equal(await readDemoProfile(dataDir), null, 'there was none');
  const simulator = createServer((request, response) => {
    response.writeHead(request.url === '/state' ? 200 : 404, { Connection: 'close' }).end('{}');
  }).listen(0, '127.0.0.1');
  t.teardown(() => simulator.close());
  await once(simulator, 'listening');
  const { port } = simulator.address() as AddressInfo;
  const file = {
    baseUrl: 'http://127.0.0.1:8080',
    clientId: 'demo',
    appId: 7,
    superUser: { token: 'tcs_demo' },
    apiUser: { token: 'tca_demo' },
    simulator: { controlUrl: `http://127.0.0.1:${port}` },
  };
  writeFileSync(join(dataDir, 'demo.json'), JSON.stringify(file));
  t.same(await readDemoProfile(dataDir), {
    url: file.baseUrl,
    client: 'demo',
    token: 'tcs_demo',
    app: { id: 7, token: 'tca_demo' },
  });

  simulator.close();
  await once(simulator, 'close');
  t.equal(await readDemoProfile(dataDir), null);
  const sent = await runHere(['send', '--tag', 'news', '--title', 'x'], { DATA_DIR: dataDir });
  t.match(sent, { code: 2, errors: /There is no profile: `tagcast profile add` makes one/ });
});
