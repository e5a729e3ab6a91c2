import t from 'tap';
import type * as Uws from '../../../packages/http1-uws/src/listener.ts';
import type * as Load from '../../../packages/http1-uws/src/load-uws.ts';
import { installPacked } from '../../support/packed.ts';

t.test('it loads the binary of its own, and listens, or says why not', async (t) => {
  const { load } = await installPacked(t, 'http1-uws');
  const { UwsListener } = await load<typeof Uws>('tagcast-http1-uws');
  const { loadUws } = await load<typeof Load>('tagcast-http1-uws/load');
  const loaded = await loadUws();
  if (!loaded.ok) {
    t.match(loaded.reason, /^@uwsjs\/\S+ is not installed$/);
    return;
  }
  const listener = new UwsListener(
    {
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
      idleTimeoutMs: 5_000,
      answerTimeoutMs: 5_000,
      log: { warn: () => undefined },
    },
    loaded.binary,
  );
  await listener.listen();
  t.teardown(() => listener.close(0));
  const answer = await fetch(`http://127.0.0.1:${listener.port}/a`, { headers: { 'X-Name': 'b' } });
  t.equal(await answer.text(), 'GET /a b');
});
