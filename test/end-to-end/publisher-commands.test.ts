/**
 * A publisher's day on the command line, with the demo as `npm start` makes it. Each command runs
 * as a process once, and otherwise in this one.
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from 'tap';
import type { ProviderAccounts } from '../../packages/simulator/src/accounts.ts';
import { until } from '../support/poll.ts';
import type { Demo } from '../support/processes.ts';
import { runCommand, startEngine } from '../support/processes.ts';
import { runHere } from '../support/run-here.ts';
import { seedEmbedded } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const DEVICE = 'ab'.repeat(32);

/** Runs commands of one user; the answer of those with `--json` is read. */
function publisherOn(t: Test, dataDir: string) {
  const home = temporaryDirectory(t);
  const environment = { HOME: home, XDG_CONFIG_HOME: join(home, 'config'), DATA_DIR: dataDir };
  const run = (...args: readonly string[]) => runHere(args, environment);
  return {
    home,
    run,
    /** The same as a process. */
    runProcess: (...args: readonly string[]) => runCommand(t, args, environment),
    // biome-ignore lint/suspicious/noExplicitAny: a test matches it.
    async json(...args: readonly string[]): Promise<any> {
      const { code, output, errors } = await run(...args, '--json');
      t.equal(code, 0, `${args.join(' ')}: ${errors}`);
      return JSON.parse(output);
    },
  };
}

/** Categories and caps, of a client without any. */
async function policies(
  t: Test,
  { run, runProcess, json }: Pick<ReturnType<typeof publisherOn>, 'run' | 'runProcess' | 'json'>,
): Promise<void> {
  t.match(await runProcess('policy', 'show'), { code: 0, output: /^There is no category/m });
  const file = join(temporaryDirectory(t), 'policies.json');
  const caps = [
    { max: 2, per: '24h' },
    { max: 9, per: '7d', of: 'all' },
  ];
  writeFileSync(
    file,
    JSON.stringify({ categories: [{ name: 'news', default: true, caps }, { name: 'breaking' }] }),
  );
  t.match(await run('policy', 'set', file), {
    code: 0,
    output:
      /^Time zone: UTC\nnews\tdefault\t2 in 24h, 9 in 7d of all pushes\nbreaking\t–\tno cap\nETag: \S+\n$/,
  });
  const { output } = await run('policy', 'show');
  const etag = /^ETag: (.*)$/m.exec(output)?.[1] ?? '';
  t.match(await run('policy', 'set', file, '--if-match', etag), { code: 0 });
  const outdated = await run('policy', 'set', file, '--if-match', '"another"');
  t.match(outdated, { output: /have been changed/ });
  t.not(outdated.code, 0);
  t.match(await json('policy', 'show'), { categories: [{ name: 'news' }, { name: 'breaking' }] });
  const dry = ['send', '--tag', 'tennis', '--title', 'a', '--dry-run'];
  t.match(await run(...dry, '--category', 'breaking', '--ignore-caps'), { code: 0 });
  t.match(await run(...dry, '--category', 'other'), { code: 2, output: /category/ });
  writeFileSync(file, '{"categories":[{"name":"news"}]}');
  t.match(await run('policy', 'set', file), { code: 2, output: /default/ });
  writeFileSync(file, 'no');
  t.match(await run('policy', 'set', file), { code: 2, output: /JSON object/ });
  t.match(await run('policy', 'set', `${file}.none`), { code: 2, output: /cannot read/ });
  writeFileSync(file, '{"categories":[]}');
  t.match(await run('policy', 'set', file), { code: 0 });
}

/** Attributes and segments, of a client without any. One device has the tag `tennis`. */
async function segments(
  t: Test,
  { run, runProcess, json }: Pick<ReturnType<typeof publisherOn>, 'run' | 'runProcess' | 'json'>,
): Promise<void> {
  const plan = ['plan', 'text', '--set-by', 'server', '--description', 'What is paid for'];
  t.match(await json('attribute', 'add', ...plan), {
    name: 'plan',
    setBy: 'server',
    description: 'What is paid for',
    personal: false,
  });
  t.match(await run('attribute', 'add', 'plan', 'text'), { code: 1, output: /of this name/ });
  t.match(await run('attribute', 'add', 'plan', 'number'), { code: 2, output: /text, language/ });
  t.match(await run('attribute', 'update', 'plan'), { code: 2, output: /nothing to change/ });
  const changed = await json('attribute', 'update', 'plan', '--description', 'none');
  t.notOk('description' in changed);
  t.match(await runProcess('attribute', 'list'), {
    code: 0,
    output: /^language\tlanguage\tset by both\tbuilt in$.*^plan\ttext\tset by server$/ms,
  });
  t.match(await run('attribute', 'values', 'plan'), {
    code: 0,
    output: 'No device has a value.\n',
  });

  t.match(await run('segment', 'list'), { code: 0, output: 'There is no segment.\n' });
  const added = await json('segment', 'add', 'readers', 'tennis && !(@plan = paid)');
  t.match(added, { name: 'readers', expression: 'tennis && !(@plan = paid)', description: null });
  t.match(await run('segment', 'add', 'wrong', '@plann = paid'), {
    code: 2,
    output: /expression: .*plan/,
  });
  t.match(await run('segment', 'update', 'readers'), { code: 2, output: /nothing to change/ });
  t.match(await run('segment', 'update', 'readers', '--description', 'All but subscribers'), {
    code: 0,
    output: 'readers\ttennis && !(@plan = paid)\tAll but subscribers\n',
  });
  t.match(await json('segment', 'show', 'readers'), { description: 'All but subscribers' });
  t.match(await runProcess('segment', 'estimate', 'readers'), {
    code: 0,
    output: /^1 device, each once\.$.*^app \d+\tplatform 3\t1 device$/ms,
  });
  t.match(await run('segment', 'delete', 'readers'), { code: 0, output: /is deleted/ });
  t.match(await run('segment', 'show', 'readers'), { code: 1, output: /no segment/ });
  t.match(await run('attribute', 'delete', 'plan'), { code: 0, output: /is deleted/ });
}

t.test('from the first device to the end of a push', async (t) => {
  const dataDir = temporaryDirectory(t);
  seedEmbedded(dataDir);
  const engine = await startEngine(t, dataDir);
  const demo = engine.demo();
  const { run, runProcess, json, home } = publisherOn(t, dataDir);
  const register = ['device', 'register', DEVICE, '--platform', '3'];

  t.match(await runProcess(...register, '--tag', 'tennis'), { code: 0, output: 'OK\n' });
  t.match(await run(...register, '--tag', 'nothing'), { code: 1, output: /Not used.*tagSourceId/ });
  t.match(await runProcess('device', 'register', DEVICE), {
    code: 2,
    output: /--platform is missing/,
  });

  const group = await json('group', 'add', 'Winter', '--source-id', 'winter');
  const ski = ['tag', 'add', 'Ski', '--source-id', 'ski', '--group', 'winter'];
  t.match(await json(...ski, '--expires', '2100-01-01T00:00:00Z', '--app', String(demo.appId)), {
    name: 'Ski',
    groupId: group.id,
    expiration: Date.UTC(2100, 0),
    appIds: [demo.appId],
  });
  t.match(await run('tag', 'update', 'ski', '--expires', '2027-02-30T10:00:00Z'), {
    code: 2,
    output: /--expires must be a day or a time that exists/,
  });
  t.match(await runProcess('tag', 'list', '--search', 'ski'), {
    code: 0,
    output: /^#\d+\tski\tSki\t/,
  });
  const clears = ['--group', 'none', '--expires', 'none', '--app', 'none', '--name', 'Skiing'];
  const changed = await json('tag', 'update', 'ski', ...clears);
  t.same(Object.keys(changed).toSorted(), ['id', 'name', 'sourceId']);
  t.same(await json('tag', 'show', `#${changed.id}`), changed);
  t.match(await run('tag', 'update', 'ski'), { code: 2, output: /nothing to change/ });
  t.match(await run('tag', 'show', 'nothing'), { code: 2, output: /no tag with the source id/ });
  t.match(await run('tag', 'show', '#99999'), { code: 1, output: /no tag/ });
  t.match(await run('group', 'update', 'winter', '--name', 'Snow'), { code: 0, output: /Snow/ });
  t.match(await runProcess('group', 'list'), { code: 0, output: /Snow/ });
  t.match(await run('tag', 'delete', 'ski'), { code: 0, output: /is deleted/ });
  t.match(await run('group', 'delete', 'winter'), { code: 0, output: /is deleted/ });

  await segments(t, { run, runProcess, json });
  await policies(t, { run, runProcess, json });

  const goal = ['send', '--title', 'goal!', '--message', '1:0'];
  const nobody = ['--audience', 'tennis && !#999'];
  t.match(await run(...goal, ...nobody), { code: 2, output: /audience: There is no tag 999/ });
  t.match(await json(...goal, '--tag', 'tennis', '--dry-run'), { dryRun: true });
  const onAndroid = await json(...goal, '--tag', 'tennis', '--platform', 'android', '--dry-run');
  t.same(onAndroid.audience, [{ appId: demo.appId, platformId: 15, count: 0 }]);
  t.match(await run(...goal, '--tag', 'tennis', '--platform', '4'), {
    code: 2,
    output: /--platform must be ios, web or android, not 4/,
  });
  const watched = await runProcess(...goal, '--tag', 'tennis', '--watch');
  t.match(watched, { code: 0, output: /FINISHED {2}1 device: 1 accepted/ });
  const key = ['--idempotency-key', 'once'];
  const first = await json(...goal, '--tag', 'tennis', '--tag', 'nobody', ...key);
  t.match(first, { unknownTags: ['nobody'], idempotencyKey: 'once' });
  t.equal((await json(...goal, '--tag', 'tennis', '--tag', 'nobody', ...key)).id, first.id);
  const payload = join(home, 'payload.json');
  writeFileSync(payload, '{"title":"of the file","data":{"a":"b"}}');
  const sent = await json('send', '--tag', `#${demo.tagIds[0]}`, '--payload-file', payload);
  t.match(await json('status', sent.id), { payload: { title: 'of the file', data: { a: 'b' } } });
  t.match(await run('send', '--tag', 'tennis'), { code: 2, output: /what\?$/m });
  t.match(await run('send', '--title', 'x'), { code: 2, output: /to whom\?$/m });
  t.match(await run(...goal, '--tag', 'tennis', '--at', '5'), { code: 2, output: /sendAt: / });
  t.match(await run(...goal, '--tag', 'tennis', '--at-local', '5'), {
    code: 2,
    output: /sendAtLocal: /,
  });

  const later = await json(...goal, '--tag', 'tennis', '--at', '2100-01-01T00:00:00Z');
  t.match(await runProcess('notification', 'pause', later.id), { code: 0, output: /PAUSED/ });
  t.match(await run('notification', 'resume', later.id), { code: 0, output: /SCHEDULED/ });
  t.match(await json('notification', 'list', '--state', 'SCHEDULED'), [{ id: later.id }]);
  t.match(await run('notification', 'cancel', later.id), { code: 0, output: /CANCELLED/ });
  t.match(await runProcess('status', later.id), { code: 3, output: /CANCELLED/ });
  t.match(await run('notification', 'resume', later.id), { code: 1, output: /CANCELLED/ });
  t.equal((await json('notification', 'list', '--limit', '1')).length, 1);

  const device = [DEVICE, '--platform', '3'];
  t.match(await json('device', 'lookup', ...device), { registered: true, deviceId: DEVICE });
  t.match(await run('device', 'lookup', ...device), { code: 0, output: /tag #\d+\ttennis/ });
  const explained = ['explain', ...device, '--audience', 'tennis && !* && @country = CH'];
  t.match(await json(...explained), { known: true, inAudience: false, because: [{ held: true }] });
  t.match(await run(...explained), {
    code: 0,
    output:
      /not in the audience\.\nholds\ttennis\ttrue\nfails\t!\*\ttrue\nfails\t@country = CH\t–\n/,
  });
  t.match(await run('explain', ...device, '--notification', later.id), {
    code: 0,
    output:
      /is in the audience\..*: CANCELLED\nA simulator stood in for the provider: no phone got it\.\nThe message has not reached it\.\nregistered\t/s,
  });
  t.match(await run('explain', ...device), { code: 2, output: /--notification and --audience/ });
  t.match(await run('device', 'unregister', ...device), { code: 0, output: 'OK\n' });
  t.match(await run('device', 'erase', ...device), { code: 0, output: /is erased/ });
  t.match(await run('device', 'lookup', ...device), { code: 1 });

  const byProfile = ['--profile', 'demo'];
  const added = await json('app', 'add', 'News', '--platform', '3', ...byProfile);
  t.match(added, { name: 'News', platformIds: [3], apiUser: { token: /^tca_/ } });
  const app = String(added.id);
  t.match(await json('app', 'list', ...byProfile), [{ id: demo.appId }, { id: added.id }]);
  const wider = ['app', 'update', app, '--name', 'Newest', '--platform', '15', ...byProfile];
  t.match(await run(...wider), { code: 0, output: `${app}\tNewest\t3, 15\n` });
  t.match(await run('app', 'update', app, ...byProfile), { code: 2, output: /nothing to change/ });
  const account = join(home, 'account.json');
  writeFileSync(account, '{"project_id":"x"}');
  const fcm = ['app', 'credentials', app, 'fcm', '--service-account-file', account, ...byProfile];
  t.match(await run(...fcm), { code: 2, output: /serviceAccount\.private_key: / });
  const apns = ['app', 'credentials', app, 'apns', ...(await apnsFlags(demo, home)), ...byProfile];
  t.match(await runProcess(...apns), { code: 0, output: /^Platform 3\n {2}stored / });
  t.match(await json('app', 'show', app, ...byProfile), {
    id: added.id,
    credentials: [
      { platformId: 3, check: { ok: true } },
      { platformId: 15, hasCredential: false },
    ],
  });
  await until('the provider may be asked again', async () => {
    const checked = await run('app', 'check', app, 'apns', ...byProfile);
    return checked.code === 0 ? true : null;
  });
  const remove = ['app', 'credentials', app, 'apns', '--remove', ...byProfile];
  t.match(await run(...remove), { code: 0, output: /no credentials on platform 3 now/ });
  const gone = ['app', 'delete', app, ...byProfile];
  t.match(await run(...gone), { code: 2, output: /for good: --confirm "Newest"/ });
  t.match(await run(...gone, '--confirm', 'News'), { code: 2, output: /is "Newest"/ });
  t.match(await run(...gone, '--confirm', 'Newest'), { code: 0, output: /is deleted/ });
  t.match(await run('app', 'show', app, ...byProfile), { code: 1 });
  t.match(await runProcess('app', 'list', 'demo'), { code: 0, output: /^\d+\t/ });

  const wrong = join(home, 'token');
  writeFileSync(wrong, 'tcs_wrong');
  const add = ['profile', 'add', 'wrong', '--url', engine.baseUrl, '--client', 'demo'];
  t.equal((await runProcess(...add, '--token-file', wrong)).code, 0);
  t.match(await run('tag', 'list'), {
    code: 1,
    output: /does not know the token of profile wrong/,
  });
  t.match(await run('status', later.id, '--watch'), { code: 1, output: /profile wrong/ });
  t.equal((await run('tag', 'list', '--profile', 'demo')).code, 0);
  t.match(await run('tag', 'list', '--profile', 'x'), { code: 2, output: /no profile x/ });
  await engine.end('SIGTERM');
  const away = await runProcess('tag', 'list', '--profile', 'demo');
  t.match(away, { code: 2, output: /profile add.+named demo, here and while it runs/ });
});

/** The credential that the demo's simulator accepts, as flags. */
async function apnsFlags({ simulator }: Demo, home: string): Promise<readonly string[]> {
  const answer = await fetch(`${simulator.controlUrl}/accounts`);
  const [account] = (await answer.json()) as readonly ProviderAccounts[];
  if (account === undefined) throw new Error('the simulator has no accounts');
  const { teamId, keyId, bundleId, privateKey } = account.apns;
  const keyFile = join(home, 'key.p8');
  writeFileSync(keyFile, privateKey);
  const flags = ['--team-id', teamId, '--key-id', keyId, '--bundle-id', bundleId];
  return [...flags, '--key-file', keyFile];
}
