/**
 * The app of the guide for Android, compiled by Kotlin's own compiler, and run with an engine: once
 * as one with installation ids, once with tokens. Of Android, Firebase and org.json there is what
 * the app uses, in test/support/guides/android/.
 */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from 'tap';
import { startConsoleEngine } from '../support/console.ts';
import { ROOT } from '../support/documents.ts';
import { skipsForbidden } from '../support/environment.ts';
import { attributesOf, register, tagsOf } from '../support/guides/devices.ts';
import { fencesOf, guideText } from '../support/guides/fences.ts';
import { withOwnValues } from '../support/guides/own-values.ts';
import type { Demo } from '../support/processes.ts';
import { findProgram, runProgram } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

t.setTimeout(240_000);

const STAND_INS = join(ROOT, 'test', 'support', 'guides', 'android');
const TOKEN = 'dRh8:APA91bHbYHk7';
const OTHER_TOKEN = 'dRh8:APA91bHbYHk8';
const INSTALLATION_ID = 'dRh8_-aBcDeFgHiJkL1234';

/** Values of Java's own locale and zone, and of the stand-ins. */
const ATTRIBUTES = {
  language: /^[a-z]{2,3}/,
  timezone: /^\w/,
  appVersion: '4.2',
  osVersion: '14',
};

type App = 'ids' | 'tokens';

const device = (deviceId: string) => ({ platformId: 15, deviceId });

const missing = ['kotlinc', 'java'].filter((program) => findProgram(program) === null);
if (missing.length > 0 && !skipsForbidden) t.plan(0, `not installed: ${missing}`);
else {
  const { demo } = await startConsoleEngine(t);

  await t.test('a token is replaced by an installation id, with its tags', async (t) => {
    await t.resolves(register(demo, device(TOKEN), 'football-goals'));
    const [kept, tags] = await run(t, demo, 'ids', TOKEN, INSTALLATION_ID);
    t.equal(kept, INSTALLATION_ID);
    t.match(JSON.parse(tags ?? ''), [{ name: 'default', tags: [{}] }]);
    t.same(await tagsOf(demo, device(TOKEN)), []);
    // football-goals came with the token, and the app has unsubscribed from it.
    t.same(await tagsOf(demo, device(INSTALLATION_ID)), ['breaking-news']);
    t.match(await attributesOf(demo, device(INSTALLATION_ID)), ATTRIBUTES);
  });

  await t.test('a new phone gets a token, and later another one', async (t) => {
    t.same(await run(t, demo, 'tokens', TOKEN, OTHER_TOKEN), [TOKEN, OTHER_TOKEN]);
    t.same(await tagsOf(demo, device(TOKEN)), []);
    t.same(await tagsOf(demo, device(OTHER_TOKEN)), ['breaking-news']);
  });
}

/** Compiles an app and runs it. Resolves with the lines that it prints. */
async function run(
  t: Test,
  demo: Demo,
  app: App,
  ...args: readonly string[]
): Promise<readonly string[]> {
  const folder = temporaryDirectory(t, sourcesOf(demo, app));
  const jar = join(folder, 'app.jar');
  const sources = [folder, STAND_INS, join(STAND_INS, app)].flatMap(kotlinIn);
  const compiled = await runProgram(t, 'kotlinc', [
    ...['-include-runtime', '-no-reflect', '-d', jar],
    ...sources,
  ]);
  t.equal(compiled.code, 0, compiled.err);
  const ran = await runProgram(t, 'java', ['-cp', jar, 'com.acme.news.MainKt', ...args]);
  t.equal(ran.code, 0, ran.err);
  return ran.out.toString().trimEnd().split('\n');
}

/** The guide's own blocks, with what a reader puts in at the top. */
function sourcesOf(
  { baseUrl, clientId, appId, apiUser }: Demo,
  app: App,
): Readonly<Record<string, string>> {
  const parts = fencesOf(guideText('android'))
    .filter(({ kind, name }) => kind === 'app' && name.split(',').includes(app))
    .map(({ code }) => code);
  const [first = '', ...others] = parts;
  const own = withOwnValues(first, {
    'url = "https://push.example.com"': `url = "${baseUrl}"`,
    'client = "acme"': `client = "${clientId}"`,
    'appId = 1': `appId = ${appId}`,
    'apiUserToken = "tca_…"': `apiUserToken = "${apiUser.token}"`,
  });
  return Object.fromEntries([own, ...others].map((code, part) => [`Part${part}.kt`, code]));
}

function kotlinIn(folder: string): readonly string[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.kt'));
  return files.map((file) => join(folder, file));
}
