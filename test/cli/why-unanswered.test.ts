/** Servers whose TLS a command cannot use: it says what to set. */

import { once } from 'node:events';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Test } from 'tap';
import t from 'tap';
import { createCertificate } from '../../packages/simulator/src/server/certificate.ts';
import { writeProfiles } from '../../src/cli/publisher/profiles.ts';
import { whyUnanswered } from '../../src/cli/why-unanswered.ts';
import { freePorts } from '../support/programs.ts';
import { runHere } from '../support/run-here.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

async function portOf(t: Test, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const faultAt = (url: string): Promise<string> =>
  fetch(url).then(() => 'it answers', whyUnanswered);

t.test('a certificate that nobody has signed', async (t) => {
  const { certificatePem: cert, privateKeyPem: key } = await createCertificate('127.0.0.1');
  const url = `https://127.0.0.1:${await portOf(t, createTlsServer({ cert, key }))}`;
  const why = /no authority trusted here .+ in NODE_EXTRA_CA_CERTS \(\w*SELF_SIGNED\w*\)/;
  t.match(await faultAt(url), why);

  const elsewhere = { OPERATOR_URL: url, OPERATOR_TOKEN: 'x'.repeat(32) };
  t.match(await runHere(['client', 'list'], elsewhere), { code: 1, errors: why });
  const home = temporaryDirectory(t);
  await writeProfiles(`${home}/tagcast/profiles.json`, {
    current: 'acme',
    byName: { acme: { url, client: 'acme', token: 'tcs_secret', app: null } },
  });
  const asPublisher = { XDG_CONFIG_HOME: home };
  t.match(await runHere(['tag', 'list'], asPublisher), { code: 1, errors: why });
  // Nothing was sent, and waiting does not help: it is said at once, and nothing else.
  const only = new RegExp(`^The engine at \\S+ did not answer: ${why.source}\\.\\s*$`);
  for (const args of [
    ['send', '--tag', 'tennis', '--title', 'goal!'],
    ['status', 'a-job', '--watch'],
  ]) {
    t.match(await runHere(args, asPublisher), { code: 1, errors: only });
  }
});

t.test('one for another name', async (t) => {
  const { certificatePem: cert, privateKeyPem: key } = await createCertificate('push.example');
  const port = await portOf(t, createTlsServer({ cert, key }));
  // Node checks the name of a certificate that it trusts.
  const error = await new Promise((resolve) => {
    const options = { host: '127.0.0.1', port, ca: cert, servername: 'other.example' };
    connectTls(options).on('error', resolve);
  });
  t.match(whyUnanswered(error), /^its certificate is for another name/);
});

t.test('a server without TLS', async (t) => {
  const port = await portOf(t, createServer());
  t.match(await faultAt(`https://127.0.0.1:${port}`), /^it does not offer TLS there: .+http:\/\//);
});

t.test('a page of something else', async (t) => {
  const server = createServer((_, response) => {
    response.writeHead(400, { 'content-type': 'text/html' }).end('<html>\r\nno\r\n</html>');
  });
  const url = `http://127.0.0.1:${await portOf(t, server)}`;
  const home = temporaryDirectory(t);
  await writeProfiles(`${home}/tagcast/profiles.json`, {
    current: 'acme',
    byName: { acme: { url, client: 'acme', token: 'tcs_secret', app: null } },
  });
  t.match(await runHere(['tag', 'list'], { XDG_CONFIG_HOME: home }), {
    code: 1,
    errors: `${url} answers with a page (400), not as an engine does.\n`,
  });
});

t.test('other faults have their code', async (t) => {
  const [port = 0] = await freePorts(1);
  t.equal(await faultAt(`https://127.0.0.1:${port}`), 'ECONNREFUSED');
});
