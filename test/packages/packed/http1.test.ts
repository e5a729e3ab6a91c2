import t from 'tap';
import type * as Http1 from '../../../packages/http1/src/listener.ts';
import { installPacked } from '../../support/packed.ts';

t.test('the server answers what its handler says', async (t) => {
  const { load } = await installPacked(t, 'http1');
  const { Listener } = await load<typeof Http1>('tagcast-http1');
  const listener = new Listener({
    host: '127.0.0.1',
    port: 0,
    certificate: null,
    readHeaders: ['x-name'],
    handler: {
      begin(head, reply) {
        const body = `${head.method} ${head.path} ${head.headers.get('x-name')}`;
        const closes = true;
        reply.send({ status: 200, body, writeFields: () => undefined, isHead: false, closes });
        return null;
      },
      refuse: () => undefined,
    },
    connectionsMax: 10,
    unsentBytesMax: 1_000_000,
    headTimeoutMs: 5_000,
    idleTimeoutMs: 5_000,
    answerTimeoutMs: 5_000,
    log: { warn: () => undefined },
  });
  await listener.listen();
  t.teardown(() => listener.close(0));
  const answer = await fetch(`http://127.0.0.1:${listener.port}/a`, { headers: { 'X-Name': 'b' } });
  t.equal(await answer.text(), 'GET /a b');
});
