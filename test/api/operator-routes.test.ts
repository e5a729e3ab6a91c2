/** The operator's commands from their arguments to the store, on every store. */

import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Authenticator } from '../../src/access/authenticate.ts';
import { fetchWithin } from '../../src/api/operator-door.ts';
import { operatorRoutes } from '../../src/api/operator-routes.ts';
import { appCommand } from '../../src/cli/app.ts';
import { clientCommand } from '../../src/cli/client.ts';
import type { Command } from '../../src/cli/command.ts';
import { credentialCommand } from '../../src/cli/credential.ts';
import type { CheckResult } from '../../src/provider-credentials/credential-check.ts';
import { readProviderCredential } from '../../src/provider-credentials/provider-credentials.ts';
import { secrets } from '../support/api.ts';
import { makeOperatorParts } from '../support/operator-parts.ts';
import { withStores } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { recordedContext } from '../support/terminal.ts';

const TOKEN = /Token {7}(\S+)/;

t.test('an installation from nothing', async (t) => {
  await withStores(t, async (t, store) => {
    const { sql } = store;
    let checked: CheckResult = { isHealthy: true, note: 'The provider accepts it.' };
    const check = () => Promise.resolve(checked);
    const routes = operatorRoutes({ ...makeOperatorParts(store), check });
    const context = recordedContext(routes);
    const commands: Readonly<Record<string, Command>> = {
      client: clientCommand(context),
      app: appCommand(context, context.publisher),
      credential: credentialCommand(context),
    };
    const run = async (line: string): Promise<readonly [code: number, text: string]> => {
      const [name = '', ...args] = line.split(' ');
      const code = (await commands[name]?.run(args)) ?? -1;
      return [code, (code === 0 ? context.printed : context.complaints).at(-1) ?? ''];
    };
    const authenticator = new Authenticator(sql, secrets);
    const roleOf = async (token: string | undefined) =>
      authenticator.authenticate(`Bearer ${token}`);

    const [added, shown] = await run('client add acme --name Acme');
    t.equal(added, 0);
    const superToken = TOKEN.exec(shown)?.[1];
    t.match(await roleOf(superToken), { role: 'super-user', clientSlug: 'acme' });
    t.same(await run('client add acme'), [1, 'Client acme exists already.']);
    t.match(await run('client add Acme!'), [2, /^client must be 1–63 lowercase letters/]);
    t.same(await run('client list'), [0, 'acme\tAcme']);
    t.match(await run('client limits acme'), [0, /^tags\t100000\ttags \(default\)$/m]);
    t.match(await run('client limits acme --tags 5 --pushes-per-second 7'), [
      0,
      /^pushesPerSecond\t7\t.* \(set; default 10000\)\n(?:.*\n)*tags\t5\ttags \(set; default 100000\)$/m,
    ]);
    const recorded = () => sql`select action, address, request_id from audit_entries order by id`;
    const before = await recorded();
    t.match(before, [{ action: 'client.create', address: null, request_id: null }, {}]);
    const url = 'http://engine/operator/v1/clients/acme/limits';
    const unchanged = await fetchWithin(routes)(url, { method: 'PATCH', body: '{}' });
    t.same(await unchanged.json(), { tags: 5, pushesPerSecond: 7 });
    t.same(await recorded(), before, 'without changes there is nothing to record');
    const another = new Authenticator(sql, secrets);
    t.match(await another.authenticate(`Bearer ${superToken}`), {
      limits: { tags: 5, pushesPerSecond: 7 },
    });
    t.match(await run('client limits acme --tags default'), [
      0,
      /^tags\t100000\ttags \(default\)$/m,
    ]);
    t.match(await run('client limits acme'), [0, /^pushesPerSecond\t7\t/m]);
    t.match(await run('client limits acme --tags 100001'), [
      2,
      /^tags must be 0–100000, or default\.$/,
    ]);
    t.match(await run('client limits acme --pushes-per-second 0'), [2, /must be 1–2147483647/]);
    t.same(await run('client limits nobody'), [1, 'There is no client nobody.']);
    t.same(await run('client limits nobody --tags 5'), [1, 'There is no client nobody.']);

    const [appAdded, appShown] = await run(
      'app add acme News --platform ios --platform 15 --platform apns',
    );
    t.equal(appAdded, 0);
    const appId = Number(/App (\d+) on 3, 15\./.exec(appShown)?.[1]);
    const apiToken = TOKEN.exec(appShown)?.[1];
    t.match(await roleOf(apiToken), { role: 'api-user', appId });
    t.same(await run('app add nobody News --platform 3'), [1, 'There is no client nobody.']);
    t.match(await run('app add acme News --platform 4'), [
      2,
      /--platform must be ios, web or android, not 4/,
    ]);

    const directory = temporaryDirectory(t);
    const keyFile = join(directory, 'key.p8');
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const apns = `--team-id TEAM123456 --key-id KEY1234567 --bundle-id com.acme --key-file ${keyFile}`;
    t.same(await run(`app credentials ${appId} apns ${apns} --sandbox`), [
      0,
      `App ${appId} has apns credentials. The provider accepts it.`,
    ]);
    t.match(await readProviderCredential(sql, secrets, appId, 3), {
      kind: 'opened',
      credential: { kind: 'apns', environment: 'sandbox', bundleId: 'com.acme' },
    });
    t.same(await run('app list acme'), [
      0,
      `${appId}\tNews\t3 (has credentials), 15 (no credentials)`,
    ]);
    t.match(await run(`app show ${appId}`), [
      0,
      /^Platform 3\n {2}stored 20.*Z\n {2}never checked\n.* a send never\nPlatform 15\n {2}no cred/,
    ]);
    t.same(await run(`app show ${appId + 1}`), [1, `There is no app ${appId + 1}.`]);
    t.same(await run(`app check ${appId} apns`), [0, 'The provider accepts it.']);
    checked = { isHealthy: null, note: 'Nobody was asked about it.' };
    t.same(await run(`app check ${appId} apns`), [0, 'Nobody was asked about it.']);
    checked = { isHealthy: false, note: 'The provider refuses it.' };
    t.same(await run(`app check ${appId} apns`), [1, 'The provider refuses it.']);
    t.same(await run(`app check ${appId + 1} apns`), [
      1,
      `There is no app ${appId + 1} on platform 3.`,
    ]);
    t.match(await run(`app check ${appId} mail`), [2, /apns, fcm or webpush/]);

    const next = apns.replace('KEY1234567', 'KEY7654321');
    t.match(await run(`app credentials ${appId} apns ${next} --sandbox --expires soon`), [
      2,
      '--expires must be a day or a time that exists, as 2027-01-31 or 2027-01-31T12:00:00Z, not soon',
    ]);
    t.match(await run(`app credentials ${appId} apns ${next} --sandbox --expires 2027-02-30`), [
      2,
      /must be a day or a time that exists/,
    ]);
    t.match(await run(`app credentials ${appId} apns ${next} --sandbox --grace-hours 169`), [
      2,
      /graceHours must be whole hours, 0–168/,
    ]);
    const terms = '--sandbox --grace-hours 5 --expires 2030-01-31';
    t.same(await run(`app credentials ${appId} apns ${next} ${terms}`), [
      1,
      `App ${appId} has apns credentials. The provider refuses it.`,
    ]);
    checked = { isHealthy: null, note: 'The provider could not be asked.' };
    t.same(await run(`app credentials ${appId} apns ${next} ${terms}`), [
      0,
      `App ${appId} has apns credentials. The provider could not be asked.`,
    ]);
    await sql`update app_platforms set refused_reason = 'InvalidProviderToken', refused_at = now() where platform_id = 3`;
    t.match(await run(`app show ${appId}`), [
      0,
      /REFUSED by the provider: InvalidProviderToken: .*\n {2}the previous one is used until 20.*\n {2}expires 2030-01-31T/,
    ]);
    t.same(await run('app list acme'), [
      0,
      `${appId}\tNews\t3 (has credentials, the provider refuses the new ones), 15 (no credentials)`,
    ]);
    t.equal((await run(`app credentials ${appId} apns --remove`))[0], 0);
    t.same(await readProviderCredential(sql, secrets, appId, 3), { kind: 'none' });
    t.match(await run(`app credentials ${appId + 1} apns ${apns}`), [1, /There is no app/]);
    const accountFile = join(directory, 'account.json');
    writeFileSync(accountFile, '{"project_id":"p"}');
    t.match(await run(`app credentials ${appId} fcm --service-account-file ${accountFile}`), [
      2,
      /serviceAccount\.private_key is missing\./,
    ]);

    const [rotated, again] = await run(`credential rotate acme --app ${appId} --grace-hours 0`);
    t.equal(rotated, 0);
    t.match(await roleOf(TOKEN.exec(again)?.[1]), { role: 'api-user', appId });
    t.equal(await new Authenticator(sql, secrets).authenticate(`Bearer ${apiToken}`), 'wrong');
    t.match(await run('credential rotate acme --grace-hours 169'), [
      2,
      /^graceHours must be whole hours, 0–168\.$/,
    ]);
    t.match(await run('credential rotate acme --app 1999 --grace-hours 1'), [1, /has no app 1999/]);

    t.same(await run('credential show acme'), [0, shown.replace(/^Client acme\. /, '')]);
    t.same(await run(`credential show acme --app ${appId}`), [0, again], 'the one in force');
    t.same(await run('credential show nobody'), [1, 'There is no client nobody.']);
    t.match(await run('credential show acme --app 1999'), [1, /has no app 1999/]);
    await sql`update credentials set key_id = 'another' where app_id is null`;
    t.match(await run('credential show acme'), [1, /^SECRET_KEY: .*another.*rotate/]);
    for (const line of [
      'client add second',
      'app add acme More --platform 3',
      `app credentials ${appId} apns ${apns}`,
    ]) {
      t.match(await run(line), [1, /^SECRET_KEY: this is key .*another/], line);
    }
    await sql`update credentials set key_id = ${secrets.keyId}`;

    t.equal((await run('client disable acme'))[0], 0);
    t.same(await run('client list'), [0, 'acme\tAcme\tdisabled']);
    t.same(await run('client disable nobody'), [1, 'There is no client nobody.']);
    t.match(await new Authenticator(sql, secrets).authenticate(`Bearer ${superToken}`), 'disabled');
    t.match(await run('client enable acme'), [0, /^Client acme is enabled/]);
    t.same(await run('client list'), [0, 'acme\tAcme']);
    t.same(await run('client enable nobody'), [1, 'There is no client nobody.']);
    t.match(
      await new Authenticator(sql, secrets).authenticate(`Bearer ${superToken}`),
      { role: 'super-user', clientSlug: 'acme' },
      'the same credential works again',
    );
    t.match(await run('client delete acme'), [1, /^Client acme is enabled\. Disable it first/]);
    t.equal((await run('client disable acme'))[0], 0);
    t.match(await run('client delete acme'), [0, /^Client acme is deleted\./]);
    t.same(await run('client delete acme'), [1, 'There is no client acme.']);
    t.same(await run('client enable acme'), [1, 'There is no client acme.']);
    t.same(await run('app add acme News --platform 3'), [1, 'There is no client acme.']);
    t.same(await run('client add acme'), [1, 'Client acme exists already.']);
    t.same(await run('client list'), [
      0,
      'acme\tAcme\tdeleted; left: 1 app, 0 devices, 0 push jobs',
    ]);
    const entries = await sql<
      { action: string; count: number; kind: string; name: string | null }[]
    >`
      select action, count, actor_kind as kind, actor_name as name from audit_entries order by id`;
    t.same(
      entries.map(({ action, count }) => [action, count]),
      [
        ['client.create', 1],
        ['client.limits', 1],
        ['client.limits', 1],
        ['app.create', 1],
        ['provider-credential.put', 3],
        ['provider-credential.delete', 1],
        ['credential.rotate', 1],
        ['client.disable', 2],
        ['client.enable', 1],
        ['client.delete', 1],
      ],
      'the audit log tells of each change, and of nothing else',
    );
    t.ok(entries.every(({ kind, name }) => kind === 'operator' && name === null));
    t.equal(context.openSessions(), 0, 'every way in was closed again');
  });
});
