/**
 * The app of the guide for iOS: its requests are sent to an engine exactly as the app makes them;
 * and where Swift is installed the app is compiled by it, and run with an engine. Of UIKit and
 * UserNotifications there is what the app uses, in test/support/guides/ios/.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from 'tap';
import { post } from '../support/client.ts';
import { startConsoleEngine } from '../support/console.ts';
import { ROOT } from '../support/documents.ts';
import { isWithoutSwift, skipsForbidden } from '../support/environment.ts';
import { attributesOf, register, tagsOf } from '../support/guides/devices.ts';
import { fencesOf, guideText } from '../support/guides/fences.ts';
import { withOwnValues } from '../support/guides/own-values.ts';
import type { Swift, SwiftProject } from '../support/guides/swift.ts';
import { findSwift, openSwiftProject, SWIFT_MISSING } from '../support/guides/swift.ts';
import type { SwiftRequest } from '../support/guides/swift-requests.ts';
import { requestsOf } from '../support/guides/swift-requests.ts';
import type { Demo } from '../support/processes.ts';

t.setTimeout(240_000);

const TAGS = ['breaking-news', 'tennis'];
const KNOWN = 'ab'.repeat(32);
const DEVICE_ID = 'cd'.repeat(32);
const TOKEN = '12'.repeat(32);
const OTHER_TOKEN = '9f'.repeat(32);

const ATTRIBUTES = {
  language: 'de-CH',
  timezone: 'Europe/Zurich',
  country: 'CH',
  appVersion: '4.2',
  osVersion: '17.5.1',
};

const STAND_INS = join(ROOT, 'test', 'support', 'guides', 'ios');
/** Those that the app imports; the other file there is its start. */
const MODULES = ['UIKit', 'UserNotifications'];
const MAIN = 'main.swift';

const device = (deviceId: string) => ({ platformId: 3, deviceId });
const codeOfApp = (): readonly string[] =>
  fencesOf(guideText('ios'))
    .filter(({ kind, name }) => kind === 'app' && name === 'ios')
    .map(({ code }) => code);

const { demo } = await startConsoleEngine(t);

await t.test('its requests', async (t) => {
  const code = codeOfApp().join('\n');
  t.match(code, /httpMethod = "POST"/, 'each of them is a POST');
  t.match(code, /Bearer \\\(apiUserToken\)/, 'with the token of the app');
  const names = {
    client: demo.clientId,
    appId: demo.appId,
    known: KNOWN,
    deviceId: DEVICE_ID,
    tags: TAGS,
    tag: 'tennis',
    attributes: ATTRIBUTES,
  };
  const requests = requestsOf(code, names);
  t.same(
    requests.map(({ path }) => path),
    ['/push-api/v3/demo/devices/replace', '/push-api/reg', '/push-api/ureg', '/push-api/tags'],
  );
  const [replace, reg, unsubscribe, tags] = requests;

  t.equal((await send(demo, replace)).status, 404, 'the engine knows neither: the program goes on');
  await register(demo, device(KNOWN), 'football-goals');
  t.same(await (await send(demo, replace)).json(), { outcome: 'moved' });
  await isTaken(t, await send(demo, reg));
  t.same(await tagsOf(demo, device(DEVICE_ID)), ['breaking-news', 'football-goals', 'tennis']);
  t.same(await attributesOf(demo, device(DEVICE_ID)), ATTRIBUTES);
  for (const name of Object.keys(ATTRIBUTES))
    t.match(code, new RegExp(`"${name}"(: |\\] = )`), `the app sends ${name}`);
  // ureg names the device that was kept: by then the new one.
  await isTaken(
    t,
    await send(demo, { ...unsubscribe, body: { ...unsubscribe?.body, deviceId: DEVICE_ID } }),
  );
  t.same(await tagsOf(demo, device(DEVICE_ID)), ['breaking-news', 'football-goals']);
  t.match(await (await send(demo, tags)).json(), [{ name: 'default', tags: [{}] }]);
});

await t.test('a request that is not understood is an error', (t) => {
  t.throws(() => requestsOf('call("/x", ["a": b])', {}), /what is b/);
  t.throws(() => requestsOf('call("/x", ["a": f(1)])', { f: 1 }), /not understood/);
  t.end();
});

// .ci/run says so too where the compiler is there and cannot be entered.
const swift = isWithoutSwift ? null : findSwift();
const skip = swift === null && (isWithoutSwift || !skipsForbidden) && SWIFT_MISSING;
await t.test('it is compiled, and started three times', { skip }, async (t) => {
  if (swift === null) throw new Error(SWIFT_MISSING);
  const project = await compile(t, swift, demo);

  t.equal(await start(t, project, TOKEN), TOKEN);
  t.same(await tagsOf(demo, device(TOKEN)), ['breaking-news']);
  t.match(await attributesOf(demo, device(TOKEN)), { timezone: /^\w/, osVersion: /^\d/ });

  await register(demo, device(TOKEN), 'football-goals');
  t.equal(await start(t, project, OTHER_TOKEN), OTHER_TOKEN);
  t.same(await tagsOf(demo, device(TOKEN)), []);
  // football-goals came with the token before.
  t.same(await tagsOf(demo, device(OTHER_TOKEN)), ['breaking-news', 'football-goals']);

  t.equal(await start(t, project, OTHER_TOKEN, 'football-goals'), OTHER_TOKEN);
  t.same(await tagsOf(demo, device(OTHER_TOKEN)), ['breaking-news']);
});

/** The guide's own blocks, with what a reader puts in at the top, and the stand-ins. */
async function compile(t: Test, swift: Swift, demo: Demo): Promise<SwiftProject> {
  const [first = '', ...others] = codeOfApp();
  const own = withOwnValues(first, {
    'string: "https://push.example.com"': `string: "${demo.baseUrl}"`,
    'client = "acme"': `client = "${demo.clientId}"`,
    'appId = 1': `appId = ${demo.appId}`,
    'apiUserToken = "tca_…"': `apiUserToken = "${demo.apiUser.token}"`,
  });
  // Elsewhere than at Apple requests are in a module of their own.
  const parts = [`import FoundationNetworking\n${own}`, ...others];
  const standIns = Object.fromEntries(
    readdirSync(STAND_INS).map((file) => [file, readFileSync(join(STAND_INS, file), 'utf8')]),
  );
  const project = openSwiftProject(t, swift, {
    ...Object.fromEntries(parts.map((code, part) => [`Part${part}.swift`, code])),
    ...standIns,
  });
  const { pathOf } = project;
  for (const module of MODULES) {
    await runWell(project, 'swiftc', [
      ...['-parse-as-library', '-emit-module', '-module-name', module],
      ...['-emit-module-path', pathOf(`${module}.swiftmodule`)],
      ...['-c', pathOf(`${module}.swift`), '-o', pathOf(`${module}.o`)],
    ]);
  }
  await runWell(project, 'swiftc', [
    ...['-warnings-as-errors', '-module-name', 'News', '-I', pathOf('.')],
    ...[...parts.map((_, part) => `Part${part}.swift`), MAIN].map(pathOf),
    ...MODULES.map((module) => pathOf(`${module}.o`)),
    ...['-o', pathOf('app')],
  ]);
  return project;
}

/** Starts the app on a phone that has this token. Resolves with the device that it keeps. */
async function start(
  t: Test,
  project: SwiftProject,
  token: string,
  ...unsubscribeFrom: readonly string[]
): Promise<string | undefined> {
  const out = await runWell(project, project.pathOf('app'), [token, ...unsubscribeFrom]);
  const [asked, opened, kept, tags = ''] = out.trimEnd().split('\n');
  t.equal(asked, 'asked for alert, sound, badge');
  t.equal(opened, 'opened https://news.example.com/1');
  t.match(JSON.parse(tags), [{ name: 'default', tags: [{}] }]);
  return kept;
}

async function runWell(
  project: SwiftProject,
  program: string,
  args: readonly string[],
): Promise<string> {
  const { code, out, err } = await project.run(program, args);
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${out}${err}`);
  return out.toString();
}

function send(
  { baseUrl, apiUser }: Demo,
  { path = '', body = {} }: Partial<SwiftRequest> = {},
): Promise<Response> {
  return post(`${baseUrl}${path}`, apiUser.token, body);
}

async function isTaken(t: Test, answer: Response): Promise<void> {
  t.equal(await answer.text(), 'OK');
  t.equal(answer.headers.get('tagcast-ignored'), null, 'and nothing of it was ignored');
}
