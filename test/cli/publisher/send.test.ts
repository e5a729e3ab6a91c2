/** A push whose answer is lost is asked for again, and sent once. */

import { writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Test } from 'tap';
import t from 'tap';
import { runCommand } from '../../support/processes.ts';
import { runHere } from '../../support/run-here.ts';
import { makeClient, sharedService } from '../../support/shared-service.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** Hands requests on, and loses so many answers: the engine has done what was asked. */
async function startLosingProxy(t: Test, engineUrl: string) {
  const state = { toLose: 0, keys: [] as unknown[] };
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { authorization = '', 'idempotency-key': key } = request.headers;
    const body = await buffer(request);
    const answer = await fetch(engineUrl + request.url, {
      method: request.method ?? 'GET',
      headers: { authorization, ...(typeof key === 'string' ? { 'idempotency-key': key } : {}) },
      ...(body.length === 0 ? {} : { body }),
    });
    const text = await answer.text();
    if (key !== undefined) state.keys.push(key);
    if (state.toLose > 0) {
      state.toLose -= 1;
      response.destroy();
      return;
    }
    const type = answer.headers.get('content-type') ?? 'text/plain';
    response.writeHead(answer.status, { 'content-type': type }).end(text);
  };
  const server = createServer((request, response) => void pass(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { state, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

t.test('sent once', async (t) => {
  const { demo } = await makeClient(await sharedService());
  const { superUser, clientId } = demo;
  const { state, url } = await startLosingProxy(t, demo.baseUrl);
  const home = temporaryDirectory(t, { token: superUser.token });
  const run = (...args: readonly string[]) => runHere(args, { HOME: home });
  const runProcess = (...args: readonly string[]) => runCommand(t, args, { HOME: home });
  const profile = ['--url', url, '--client', clientId, '--token-file', join(home, 'token')];
  t.equal((await run('profile', 'add', 'lossy', ...profile)).code, 0);
  const titled = async (title: string): Promise<number> => {
    const { output } = await run('notification', 'list', '--json');
    const jobs: readonly { readonly title: string }[] = JSON.parse(output);
    return jobs.filter((job) => job.title === title).length;
  };

  state.toLose = 2;
  const sent = await runProcess('send', '--tag', 'tennis', '--title', 'lost twice', '--json');
  t.equal(sent.code, 0, sent.output);
  t.equal(state.keys.length, 3);
  t.equal(new Set(state.keys).size, 1, 'one key for all attempts');
  t.equal(JSON.parse(sent.output).idempotencyKey, state.keys[0]);
  t.equal(await titled('lost twice'), 1);

  state.toLose = 100;
  const lost = await run('send', '--tag', 'tennis', '--title', 'lost');
  t.equal(lost.code, 1);
  const [, key = ''] = /--idempotency-key (\S+)/.exec(lost.output) ?? [];
  t.equal(key, state.keys.at(-1));
  state.toLose = 0;
  const repeat = ['send', '--tag', 'tennis', '--title', 'lost', '--idempotency-key', key];
  t.equal((await run(...repeat)).code, 0);
  t.equal(await titled('lost'), 1);
  t.match(await run(...repeat, '--message', 'another'), { code: 1, output: /Idempotency-Key/ });

  const broken = await run('send', '--tag', 'tennis', '--title', 'T\u{fffd}r');
  t.match(broken, { code: 2, output: /is not UTF-8; set the terminal to it/ });
  const file = join(home, 'payload.json');
  writeFileSync(file, '[1]');
  const number = join(home, 'number.json');
  writeFileSync(number, '{"title":"a","data":{"id":1234567890123456789}}');
  const latin = join(home, 'latin.json');
  writeFileSync(latin, Buffer.from('{"title":"T\u{f6}r"}', 'latin1'));
  for (const [path, sentence] of [
    [file, /does not hold a JSON object/],
    [number, /payload\.data\.id .*write it as a string/],
    [latin, /is not UTF-8 from line 1, column 12/],
    [join(home, 'none'), /cannot read/],
  ] as const) {
    const refused = await run('send', '--tag', 'tennis', '--payload-file', path);
    t.match(refused, { code: 2, output: sentence });
  }
});
