/** An engine elsewhere, and servers that are none. */

import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import t from 'tap';
import { fetchFromElsewhere, operatorApi, refusalOf } from '../../src/cli/operator-api.ts';

async function served(t: Test, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const sentenceOf = (baseUrl: string): Promise<unknown> =>
  operatorApi(fetchFromElsewhere, { baseUrl, token: 'secret' })
    .request('GET', '/operator/v1/clients')
    .then(({ body }) => body, refusalOf);

const JSON_HEAD = { 'Content-Type': 'application/json', Connection: 'close' };

t.test('what is no answer of Tagcast is a sentence', async (t) => {
  const page = await served(t, (_request, response) =>
    response.writeHead(200, { 'Content-Type': 'text/html', Connection: 'close' }).end('<p>Hello'),
  );
  t.equal(
    await sentenceOf(page),
    `The server at ${page} answered something that is no answer of Tagcast: is OPERATOR_URL right?`,
  );
  const cut = await served(t, (_request, response) => {
    response.writeHead(200, { ...JSON_HEAD, 'Content-Length': '100' });
    response.write('[', () => response.destroy());
  });
  t.match(await sentenceOf(cut), new RegExp(`^The engine at ${cut} did not answer: .+\\.$`));
});

t.test('a redirect is not followed: the token stays where it was sent', async (t) => {
  const asked: (string | undefined)[] = [];
  const other = await served(t, (request, response) => {
    asked.push(request.headers.authorization);
    response.writeHead(200, JSON_HEAD).end('[]');
  });
  const redirecting = await served(t, (_request, response) =>
    response.writeHead(307, { Location: `${other}/operator/v1/clients`, ...JSON_HEAD }).end(),
  );
  t.match(await sentenceOf(redirecting), /did not answer: .*redirect/);
  t.same(asked, []);
  t.same(await sentenceOf(other), []);
});
