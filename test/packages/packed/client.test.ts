import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import type * as Client from '../../../packages/client/src/client.ts';
import { installPacked } from '../../support/packed.ts';

t.test('the client asks a server', async (t) => {
  const { load } = await installPacked(t, 'client');
  const { TagcastClient } = await load<typeof Client>('tagcast-client');
  const server = createServer((request, response) => {
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ asked: `${request.method} ${request.url}` }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const tagcast = new TagcastClient({ baseUrl: `http://127.0.0.1:${port}`, token: 'token' });
  const { status, body } = await tagcast.request('GET', '/push-api/status/{id}', {
    path: { id: 'a' },
  });
  t.equal(status, 200);
  t.same(body, { asked: 'GET /push-api/status/a' });
});
