/** Profiles: kept for their owner only, chosen by name, never shown with a token. */

import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from 'tap';
import { profileCommand } from '../../../src/cli/publisher/profile.ts';
import type { Profile } from '../../../src/cli/publisher/profiles.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { recordedContext } from '../../support/terminal.ts';

const DEMO: Profile = {
  url: 'http://127.0.0.1:8080',
  client: 'demo',
  token: 'tcs_demo',
  app: { id: 1, token: 'tca_demo' },
};

function commander(t: Test, demo: Profile | null = null) {
  const directory = temporaryDirectory(t, { token: 'tcs_secret\n', 'app-token': 'tca_secret\n' });
  const { terminal, printed, complaints } = recordedContext();
  const profilesPath = join(directory, 'made', 'profiles.json');
  const command = profileCommand({ terminal, profilesPath, readDemo: async () => demo });
  return {
    directory,
    profilesPath,
    printed,
    complaints,
    run: (line: string) => command.run(line.replaceAll('@', `${directory}/`).split(' ')),
  };
}

t.test('added, listed, chosen and removed', async (t) => {
  const { run, printed, profilesPath, complaints } = commander(t, DEMO);
  t.equal(await run('list'), 0);
  t.match(printed.at(-1), /^\*\tdemo\t/);
  const acme = '--url https://push.example --client acme --token-file @token';
  t.equal(await run(`add acme ${acme}`), 0, complaints.join('\n'));
  t.equal(await run(`add staging ${acme} --app 7 --app-token-file @app-token`), 0);
  t.equal(statSync(profilesPath).mode & 0o777, 0o600);
  t.equal(statSync(join(profilesPath, '..')).mode & 0o777, 0o700);
  t.equal(await run('list --json'), 0);
  const text = printed.at(-1) ?? '';
  t.same(JSON.parse(text), [
    { name: 'demo', url: DEMO.url, client: 'demo', appId: 1, isCurrent: false },
    { name: 'acme', url: 'https://push.example', client: 'acme', appId: null, isCurrent: true },
    { name: 'staging', url: 'https://push.example', client: 'acme', appId: 7, isCurrent: false },
  ]);
  t.notMatch(printed.join('\n'), /secret/);
  t.equal(await run('use staging'), 0);
  t.equal(JSON.parse(readFileSync(profilesPath, 'utf8')).current, 'staging');
  t.equal(await run('use demo'), 0, 'the demo needs no add');
  t.equal(await run('remove staging'), 0);
  t.notMatch(readFileSync(profilesPath, 'utf8'), /staging/);
  t.equal(await run('remove staging'), 1);
  t.equal(await run('use nobody'), 1);
  t.match(complaints.at(-1), /There is no profile nobody/);
});

t.test('each mistake has its sentence, and nothing is written', async (t) => {
  const { run, complaints, profilesPath, directory } = commander(t);
  for (const [line, sentence] of [
    ['add', /^<name> is missing$/],
    ['add a', /^--url is missing$/],
    ['add a --url push.example --client a', /^--url must be an address/],
    ['add a --url http://push.example', /^--client is missing$/],
    ['add a --url http://x --client a --token-file @none', /^--token-file: cannot read/],
    ['add a --url http://x --client a --token-file @app-token', /does not hold a token of a pub/],
    ['add a --url http://x --client a --token-file @token --app 1', /^--app goes with/],
    ['use', /^<name> is missing$/],
  ] as const) {
    t.equal(await run(line), 2, line);
    t.match(complaints.at(-1), sentence, line);
  }
  t.throws(() => statSync(profilesPath), { code: 'ENOENT' });
  writeFileSync(join(directory, 'made'), 'a file where the folder should be');
  t.equal(await run('add a --url http://x --client a --token-file @token'), 2);
  t.match(complaints.at(-1), /^cannot (read|write) /);
});

t.test('a file that is none of ours is told, and kept', async (t) => {
  const { run, complaints, profilesPath } = commander(t);
  t.equal(await run('add a --url http://x --client a --token-file @token'), 0);
  for (const content of ['{', '{"current":null}', '{"current":null,"byName":{"a":{"url":1}}}']) {
    writeFileSync(profilesPath, content);
    chmodSync(profilesPath, 0o600);
    t.equal(await run('list'), 2, content);
    t.match(complaints.at(-1), /does not hold profiles/);
    t.equal(await run('add b --url http://x --client a --token-file @token'), 2, content);
    t.equal(readFileSync(profilesPath, 'utf8'), content);
  }
});
