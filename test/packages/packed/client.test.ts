import { cpSync, existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import t from 'tap';
import type * as Client from '../../../packages/client/src/client.ts';
import { ROOT } from '../../support/documents.ts';
import { installPacked } from '../../support/packed.ts';
import { runProgram } from '../../support/programs.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

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

t.test('in a clone without its packages npm pack says what is missing', async (t) => {
  const clone = temporaryDirectory(t);
  const isWritten = (path: string): boolean => !['node_modules', 'dist'].includes(basename(path));
  cpSync(join(ROOT, 'packages'), join(clone, 'packages'), { recursive: true, filter: isWritten });
  const cwd = join(clone, 'packages', 'client');
  const { code, err } = await runProgram(t, 'npm', ['pack', '--offline'], { cwd });
  t.not(code, 0);
  t.match(err, /Nothing is packed: the compiler is not installed\. Run `npm ci` in the root/);
  t.notOk(existsSync(join(cwd, 'tagcast-client-1.0.0.tgz')));
});
