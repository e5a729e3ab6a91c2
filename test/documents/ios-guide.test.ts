/**
 * The requests of the guide for iOS, sent to an engine exactly as the program there makes them. The
 * program is not compiled: Debian has no compiler of Swift.
 */

import type { Test } from 'tap';
import t from 'tap';
import { post } from '../support/client.ts';
import { startConsoleEngine } from '../support/console.ts';
import { fencesOf, guideText } from '../support/guides/fences.ts';
import type { SwiftRequest } from '../support/guides/swift-requests.ts';
import { requestsOf } from '../support/guides/swift-requests.ts';
import type { Demo } from '../support/processes.ts';

t.setTimeout(180_000);

const TAGS = ['breaking-news', 'tennis'];
const PLATFORM_ID = 3;
const KNOWN = 'ab'.repeat(32);
const DEVICE_ID = 'cd'.repeat(32);

t.test('the requests alone are executed, the program is not', async (t) => {
  const { demo } = await startConsoleEngine(t);
  const { appId, baseUrl, apiUser } = demo;
  const code = fencesOf(guideText('ios'))
    .filter(({ kind }) => kind === 'request')
    .map(({ code }) => code)
    .join('\n');
  t.match(code, /httpMethod = "POST"/, 'each of them is a POST');
  t.match(code, /Bearer \\\(apiUserToken\)/, 'with the token of the app');
  const names = {
    client: demo.clientId,
    appId,
    known: KNOWN,
    deviceId: DEVICE_ID,
    tags: TAGS,
    tag: 'tennis',
    version: '4.2',
  };
  const requests = requestsOf(code, names);
  t.same(
    requests.map(({ path }) => path),
    ['/push-api/v3/demo/devices/replace', '/push-api/reg', '/push-api/ureg', '/push-api/tags'],
  );
  const [replace, register, unsubscribe, tags] = requests;

  t.equal((await send(demo, replace)).status, 404, 'the engine knows neither: the program goes on');
  const before = { appId, platformId: PLATFORM_ID, deviceId: KNOWN, tagSourceId: 'football-goals' };
  await post(`${baseUrl}/push-api/reg`, apiUser.token, before);
  t.same(await (await send(demo, replace)).json(), { outcome: 'moved' });
  await isTaken(t, await send(demo, register));
  t.same(await tagsOf(demo), ['breaking-news', 'football-goals', 'tennis']);
  // ureg names the device that was kept: by then the new one.
  await isTaken(
    t,
    await send(demo, { ...unsubscribe, body: { ...unsubscribe?.body, deviceId: DEVICE_ID } }),
  );
  t.same(await tagsOf(demo), ['breaking-news', 'football-goals']);
  t.match(await (await send(demo, tags)).json(), [{ name: 'default', tags: [{}] }]);
});

t.test('what is not understood is an error', (t) => {
  t.throws(() => requestsOf('call("/x", ["a": b])', {}), /what is b/);
  t.throws(() => requestsOf('call("/x", ["a": f(1)])', { f: 1 }), /not understood/);
  t.end();
});

const send = (
  { baseUrl, apiUser }: Demo,
  { path = '', body = {} }: Partial<SwiftRequest> = {},
): Promise<Response> => post(`${baseUrl}${path}`, apiUser.token, body);

async function isTaken(t: Test, answer: Response): Promise<void> {
  t.equal(await answer.text(), 'OK');
  t.equal(answer.headers.get('tagcast-ignored'), null, 'and nothing of it was ignored');
}

async function tagsOf(demo: Demo): Promise<unknown> {
  const { appId } = demo;
  const answer = await send(demo, {
    path: '/push-api/list',
    body: { appId, platformId: PLATFORM_ID, deviceId: DEVICE_ID },
  });
  const tags = (await answer.json()) as readonly { readonly sourceId: string }[];
  return tags.map(({ sourceId }) => sourceId).toSorted();
}
