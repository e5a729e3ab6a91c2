/** Requests by the thousand to servers that we did not write, some of which close in between. */

import { strict as assert } from 'node:assert';
import t from 'tap';
import type { TestClient } from '../../../support/http2-client.ts';
import { getOf, openClient } from '../../../support/http2-client.ts';
import { bodyOf, countsOf, isSmallFile, times } from '../../../support/http2-servers/ask.ts';
import { onEachHttp2Server } from '../../../support/http2-servers/each-server.ts';
import { NGINX_COUNTS_PATH } from '../../../support/http2-servers/nginx.ts';
import { SMALL_PATH } from '../../../support/http2-servers/site.ts';

t.test('20,000 requests are each answered once, whatever the server closes', async (t) => {
  await onEachHttp2Server(t, async (t, { origin, ca }, name) => {
    const clients: Promise<TestClient>[] = [];
    const open = (): Promise<TestClient> => {
      const client = openClient(t, origin, { ca, streamsMax: 400 });
      clients.push(client);
      return client;
    };
    const total = 20_000;
    const sentAgain = await askAll(open, getOf(origin, `${SMALL_PATH}?`), total);
    t.comment(`${name}: ${clients.length} connections, ${sentAgain} were sent again`);
    // nginx takes a thousand on each.
    t.equal(clients.length, name === 'nginx' ? total / 1_000 : 1);
    const last = await openClient(t, origin, { ca });
    if (name === 'node:http2') t.equal((await countsOf(last, origin)).requests, total + 1);
    if (name === 'nginx') {
      const counts = await last.ask(last.prepare(getOf(origin, NGINX_COUNTS_PATH)));
      const [, requests] = /accepts handled requests\s+\d+ \d+ (\d+)/.exec(bodyOf(counts)) ?? [];
      t.equal(Number(requests), total + 1);
    }
  });
});

/**
 * Asks so often, on as many connections as it takes, and sees every answer; answers how many
 * requests were sent again.
 */
async function askAll(
  open: () => Promise<TestClient>,
  form: ReturnType<typeof getOf>,
  total: number,
): Promise<number> {
  let current = await open();
  let request = current.prepare(form);
  let replacement: Promise<void> | null = null;
  let next = 0;
  let sentAgain = 0;
  const replace = async (): Promise<void> => {
    current = await open();
    request = current.prepare(form);
    replacement = null;
  };
  const askOne = async (value: string): Promise<void> => {
    for (;;) {
      if (current.drainingReason() !== null) replacement ??= replace();
      await replacement;
      const answer = await current.ask(request, value);
      if (answer.kind === 'answered') {
        assert(isSmallFile(answer));
        return;
      }
      assert(answer.isUnprocessed, answer.reason);
      sentAgain += 1;
    }
  };
  await times(500, async () => {
    while (next < total) {
      next += 1;
      await askOne(String(next));
    }
  });
  return sentAgain;
}
