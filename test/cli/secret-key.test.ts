/**
 * `secret-key rotate`, killed in the middle and run again, on a PostgreSQL whose nodes read both
 * keys meanwhile.
 */

import { once } from 'node:events';
import t from 'tap';
import { Authenticator } from '../../src/access/authenticate.ts';
import type { ShownCredential } from '../../src/access/credentials.ts';
import {
  createCredential,
  revealCredential,
  secretKeyFault,
} from '../../src/access/credentials.ts';
import type { Secrets } from '../../src/access/secrets.ts';
import { createSecrets } from '../../src/access/secrets.ts';
import { fetchWithin } from '../../src/api/operator-door.ts';
import { secretKeyRoute } from '../../src/api/secret-key/operator-secret-key.ts';
import { insertApp } from '../../src/catalogue/sql/insert-app.ts';
import { secretKeyCommand } from '../../src/cli/secret-key.ts';
import { insertClient } from '../../src/clients/insert-client.ts';
import { openPostgres } from '../../src/database/store.ts';
import { WEBHOOK_EVENT_TYPES } from '../../src/domain/webhook.ts';
import { createKey } from '../../src/keys/keys.ts';
import {
  providerIdentityOf,
  readProviderCredential,
} from '../../src/provider-credentials/provider-credentials.ts';
import { ProviderTokens, tokenIdentityOf } from '../../src/provider-credentials/provider-tokens.ts';
import {
  makeWebhookSecret,
  openWebhookSecret,
  sealWebhookSecret,
} from '../../src/webhooks/secret.ts';
import { claimWebhooks } from '../../src/webhooks/sql/claim-deliveries.ts';
import { insertWebhook, nextWebhookId, replaceSecret } from '../../src/webhooks/sql/webhooks.ts';
import { until } from '../support/poll.ts';
import { runCommand, startCommand } from '../support/processes.ts';
import { runHere } from '../support/run-here.ts';
import { temporaryEmbedded, withPostgres } from '../support/store.ts';
import { recordedContext } from '../support/terminal.ts';

const OLD = 'the old secret key, long enough to be one';
const NEW = 'the new secret key, long enough to be one';
const THIRD = 'a third secret key, long enough to be one';
/** More than two pieces. */
const CREDENTIALS = 250;
const PIECE = 100;

t.test('everything comes under the new key, whatever happens on the way', async (t) => {
  await withPostgres(t, async (t, url) => {
    const store = await openPostgres(url);
    t.teardown(() => store.close());
    const { sql } = store;
    const old = createSecrets(OLD);
    const both = createSecrets(NEW, OLD);
    const fresh = createSecrets(NEW);

    const clientId = (await insertClient(sql, { slug: 'acme', name: 'Acme' })) ?? 0;
    const appId = await insertApp(sql, { clientId, name: 'App', platformIds: [3, 15] });
    const owner = { clientId, clientSlug: 'acme' };
    const credentials: ShownCredential[] = [];
    for (let n = 0; n < CREDENTIALS; n += 1) {
      credentials.push(
        await createCredential(sql, old, { ...owner, appId: n === 0 ? appId : null }),
      );
    }
    const key = await createKey(sql, old, {
      ...owner,
      name: 'CMS',
      scopes: ['read'],
      tagIds: null,
      groupIds: null,
      appIds: null,
      maxDevices: null,
      expiresAtMs: null,
    });
    if ('over' in key) throw new Error('too many keys');
    const provider = { kind: 'fcm', serviceAccount: { project_id: 'p' } };
    const sealed = () => old.seal(JSON.stringify(provider), providerIdentityOf(appId, 15));
    await sql`
      update app_platforms set credential_sealed = ${sealed()}, credential_key_id = ${old.keyId},
        previous_sealed = ${sealed()}, previous_key_id = ${old.keyId}, previous_until = now() + interval '1 hour'
      where app_id = ${appId} and platform_id = 15`;
    await sql`
      insert into provider_tokens (identity, value_id, value_sealed, value_key_id, minted_at, refresh_at, expires_at)
      values ('one', gen_random_uuid(), ${old.seal('access', tokenIdentityOf('one'))}, ${old.keyId}, now(),
        now() + interval '1 hour', now() + interval '1 hour')`;

    const webhook = await nextWebhookId(sql);
    const terms = { url: 'https://cms.example/', eventTypes: WEBHOOK_EVENT_TYPES, isEnabled: true };
    const [before, now] = [makeWebhookSecret(), makeWebhookSecret()];
    await insertWebhook(sql, clientId, webhook, terms, sealWebhookSecret(old, webhook, before));
    await replaceSecret(sql, webhook, sealWebhookSecret(old, webhook, now), 24);
    const signedWith = async (secrets: Secrets) => {
      const [claimed] = await claimWebhooks(sql, 1, 0);
      const { secret, previous } = claimed ?? { secret: null, previous: null };
      return [secret, previous].map((one) => one && openWebhookSecret(secrets, webhook, one));
    };
    await sql`insert into webhook_events (webhook_id, type, data) values (${webhook}, 'job.finished', '{}')`;

    const environment = {
      DATABASE_URL: url,
      SECRET_KEY: NEW,
      SECRET_KEY_OTHER: OLD,
    };
    const rotate = (more = {}) => runHere(['secret-key', 'rotate'], { ...environment, ...more });
    const countNew = async () => {
      const [row] = await sql<{ count: number }[]>`
        select count(*) from credentials where key_id = ${fresh.keyId}`;
      return row?.count ?? 0;
    };
    const tokens = [credentials[0], credentials[PIECE + 70], credentials[CREDENTIALS - 1], key].map(
      (shown) => shown?.token ?? '',
    );
    const knownTo = async (secrets: Secrets) => {
      const authenticator = new Authenticator(sql, secrets);
      const answers = tokens.map((token) => authenticator.authenticate(`Bearer ${token}`));
      const basic = credentials.slice(0, 1).map(({ username, password }) => {
        const pair = Buffer.from(`${username}:${password}`).toString('base64');
        return authenticator.authenticate(`Basic ${pair}`);
      });
      return (await Promise.all([...answers, ...basic])).map(
        (answer) => typeof answer === 'object',
      );
    };
    const ALL = [true, true, true, true, true];

    await t.test('killed in its second piece', async (t) => {
      let release = (): void => undefined;
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      const holding = sql.begin(async (tx) => {
        const { username } = credentials[PIECE + 50] ?? { username: '' };
        await tx`select 1 from credentials where username = ${username} for update`;
        await released;
      });
      const { child } = startCommand(t, ['secret-key', 'rotate'], environment);
      await until('the first piece is done', async () => ((await countNew()) > 0 ? true : null));
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      release();
      await holding;
      t.equal(await countNew(), PIECE, 'a piece is whole or not begun');
      t.same(await knownTo(both), ALL, 'a node with the new key and the old one');
      t.same(await knownTo(createSecrets(OLD, NEW)), ALL, 'and one with the old and the new');
      t.match(await secretKeyFault(sql, fresh), new RegExp(old.keyId));
      t.equal(await secretKeyFault(sql, both), null);
    });

    await t.test('run again it does the rest, and a third time nothing', async (t) => {
      const again = await runCommand(t, ['secret-key', 'rotate'], environment);
      t.equal(again.code, 0, again.output);
      t.match(
        again.output,
        new RegExp(`now: ${CREDENTIALS - PIECE + 4} secrets\\. Nothing is left`),
      );
      t.same(await knownTo(fresh), ALL);
      t.same(await knownTo(old), [false, false, false, false, false]);
      t.equal(await secretKeyFault(sql, fresh), null);
      t.same(await revealCredential(sql, fresh, { clientId, appId }), {
        kind: 'revealed',
        credential: credentials[0],
      });
      t.match(await readProviderCredential(sql, fresh, appId, 15), {
        kind: 'opened',
        credential: provider,
      });
      const [row] =
        await sql`select previous_key_id as "keyId" from app_platforms where platform_id = 15`;
      t.match(row, { keyId: fresh.keyId });
      t.match(await new ProviderTokens(sql, fresh, () => null).read('one', 0), { value: 'access' });
      t.same(await signedWith(fresh), [now, before], 'webhooks sign with the same secrets');
      t.same(await signedWith(old), [null, null]);
      t.match(await rotate(), { code: 0, output: /now: 0 secrets\./ });
    });

    await t.test('what neither key can read is told', async (t) => {
      await createCredential(sql, createSecrets(THIRD), { ...owner, appId: null });
      t.match(await rotate(), {
        code: 1,
        errors: /Left as before: 1, for SECRET_KEY_OTHER cannot read that/,
      });
      t.match(await rotate({ SECRET_KEY_OTHER: THIRD }), { code: 0, output: /now: 1 secret\./ });
      t.same(await knownTo(fresh), ALL);
    });
  });
});

t.test('nodes that have different keys are told apart', async (t) => {
  const { sql } = await temporaryEmbedded(t);
  const clientId = (await insertClient(sql, { slug: 'acme', name: 'Acme' })) ?? 0;
  await createCredential(sql, createSecrets(OLD), { clientId, clientSlug: 'acme', appId: null });
  // A balancer picks a node for each request.
  const nodes = [createSecrets(NEW, OLD), createSecrets(OLD, NEW)].map((secrets) =>
    fetchWithin([secretKeyRoute({ sql, secrets })]),
  );
  let requests = 0;
  const context = recordedContext([], () => (...asked) => {
    const ask = nodes[requests % nodes.length] ?? fetch;
    requests += 1;
    return ask(...asked);
  });
  t.equal(await secretKeyCommand(context).run(['rotate']), 1);
  t.match(context.complaints, [/^Nodes have different SECRET_KEYs: .*under key .* run this again/]);
});
