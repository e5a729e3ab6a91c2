/** Authorization header to caller, on a slow store and a clock that the test moves. */

import type { Test } from 'tap';
import t from 'tap';
import { Authenticator } from '../../src/access/authenticate.ts';
import { rotateCredential } from '../../src/access/credentials.ts';
import { readAccessRevision } from '../../src/access/sql/access-revision.ts';
import type { CredentialRow } from '../../src/access/sql/find-credentials.ts';
import { disableClient, enableClient } from '../../src/clients/disable-client.ts';
import { raiseCatalogueVersion } from '../../src/clients/lock-client.ts';
import type { Sql } from '../../src/database/sql.ts';
import type { Store } from '../../src/database/store.ts';
import { addTenant, basic, bearer, secrets } from '../support/api.ts';
import { until } from '../support/poll.ts';
import { settableClock } from '../support/set-clock.ts';
import { withStores } from '../support/store.ts';

type Scene = (t: Test, store: Store) => Promise<void>;

/** Played on every store at the end of this file. */
const scenes: { readonly name: string; readonly play: Scene }[] = [];
const scene = (name: string, play: Scene): number => scenes.push({ name, play });

scene('Bearer and Basic of both roles; everything else is wrong or missing', async (t, { sql }) => {
  const demo = await addTenant(sql, 'demo-1');
  const other = await addTenant(sql, 'other-1');
  const authenticator = new Authenticator(sql, secrets);
  const superUser = {
    role: 'super-user',
    clientId: demo.clientId,
    clientSlug: 'demo-1',
    appId: null,
    userName: demo.superUser.username,
  };
  const apiUser = {
    ...superUser,
    role: 'api-user',
    appId: demo.appId,
    userName: demo.apiUser.username,
  };
  const cases: readonly (readonly [header: string, answer: unknown])[] = [
    [bearer(demo.superUser), { ...superUser, method: 'bearer' }],
    [basic(demo.superUser), { ...superUser, method: 'basic' }],
    [bearer(demo.apiUser), { ...apiUser, method: 'bearer' }],
    [basic(demo.apiUser), { ...apiUser, method: 'basic' }],
    ['', 'missing'],
    ['Digest x', 'missing'],
    [`${bearer(demo.superUser)}x`, 'wrong'],
    [`Bearer ${demo.superUser.password}`, 'wrong'],
    [basic({ ...demo.superUser, password: other.superUser.password }), 'wrong'],
    [basic({ ...demo.superUser, password: demo.superUser.token }), 'wrong'],
    [basic({ ...demo.superUser, username: 'nobody' }), 'wrong'],
    [basic({ ...demo.superUser, username: 'no\0body' }), 'wrong'],
  ];
  const answers = await Promise.all(cases.map(([header]) => authenticator.authenticate(header)));
  for (const [index, [header, answer]] of cases.entries()) t.same(answers[index], answer, header);
});

t.test(
  'a known credential is answered without asking; what was taken away is refused within a second',
  async (t) => {
    await withStores(t, async (t, { sql }) => {
      const demo = await addTenant(sql, 'demo-1');
      let nowMs = 0;
      const authenticator = new Authenticator(sql, secrets, () => nowMs);
      const ask = (header: string) => authenticator.authenticate(header);

      t.ok(ask(bearer(demo.apiUser)) instanceof Promise, 'the first time the store is asked');
      await ask(bearer(demo.apiUser));
      t.match(ask(bearer(demo.apiUser)), { role: 'api-user' }, 'then nobody is');

      const owner = { clientId: demo.clientId, clientSlug: 'demo-1', appId: demo.appId };
      const fresh = await rotateCredential(sql, secrets, owner, 0);
      nowMs += 1_000;
      t.equal(await ask(bearer(demo.apiUser)), 'wrong');
      t.match(await ask(bearer(fresh)), { role: 'api-user' });

      const graced = await rotateCredential(sql, secrets, owner, 1);
      t.match(await ask(bearer(fresh)), { role: 'api-user' }, 'in its grace');
      t.match(await ask(bearer(graced)), { role: 'api-user' });

      await disableClient(sql, 'demo-1');
      nowMs += 1_000;
      t.equal(await ask(bearer(graced)), 'disabled');
      t.equal(await ask(basic(demo.superUser)), 'disabled');
      t.equal(await ask('Bearer tcs_guessed'), 'wrong', 'who guesses is not told so');
    });
  },
);

scene('what was refused is remembered for a moment, apart from what works', async (t, { sql }) => {
  const demo = await addTenant(sql, 'demo-6');
  let nowMs = 0;
  const authenticator = new Authenticator(sql, secrets, () => nowMs);
  await authenticator.authenticate(bearer(demo.apiUser));
  const guesses = Array.from({ length: 10_001 }, (_, n) =>
    authenticator.authenticate(`Bearer tca_${n}`),
  );
  t.same(new Set(await Promise.all(guesses)), new Set(['wrong']));
  t.equal(authenticator.authenticate('Bearer tca_10000'), 'wrong', 'without a question');
  t.ok(authenticator.authenticate('Bearer tca_0') instanceof Promise, 'the oldest is forgotten');
  t.match(authenticator.authenticate(bearer(demo.apiUser)), { role: 'api-user' });
  nowMs += 2_000;
  t.ok(authenticator.authenticate('Bearer tca_10000') instanceof Promise, 'asked again');
});

scene('while a known credential is checked again it is served', async (t, { sql }) => {
  const demo = await addTenant(sql, 'demo-2');
  let nowMs = 0;
  const authenticator = new Authenticator(sql, secrets, () => nowMs);
  await authenticator.authenticate(bearer(demo.apiUser));
  nowMs += 700;
  t.match(authenticator.authenticate(bearer(demo.apiUser)), { role: 'api-user' });
});

scene(
  'one used all the time is refused within a second, and all others are',
  async (t, { sql }) => {
    const demo = await addTenant(sql, 'demo-8');
    const authenticator = new Authenticator(sql, secrets);
    const headers = [bearer(demo.apiUser), basic(demo.apiUser), bearer(demo.superUser)];
    const askAll = () => Promise.all(headers.map((header) => authenticator.authenticate(header)));
    await askAll();
    await disableClient(sql, 'demo-8');
    const endMs = performance.now() + 1_000;
    // Used in every turn: none of them is ever out of use for a moment.
    while (performance.now() < endMs) {
      await askAll();
      await new Promise(setImmediate);
    }
    t.same(await askAll(), ['disabled', 'disabled', 'disabled']);
    await enableClient(sql, 'demo-8');
    await until('they work again', async () =>
      (await askAll()).every((answer) => typeof answer === 'object') ? true : null,
    );
  },
);

scene('what is taken away by hand, or by another version, is seen too', async (t, { sql }) => {
  const demo = await addTenant(sql, 'demo-9');
  let nowMs = 0;
  const authenticator = new Authenticator(sql, secrets, () => nowMs);
  const ask = () => authenticator.authenticate(bearer(demo.apiUser));
  await ask();
  await sql`update credentials set expires_at = now() where username = ${demo.apiUser.username}`;
  nowMs += 1_000;
  t.equal(await ask(), 'wrong');
});

scene('other work on clients is no reason to ask again', async (t, { sql }) => {
  const demo = await addTenant(sql, 'demo-10');
  let nowMs = 0;
  const authenticator = new Authenticator(sql, secrets, () => nowMs);
  const ask = () => authenticator.authenticate(bearer(demo.apiUser));
  await ask();
  const before = await readAccessRevision(sql);
  await raiseCatalogueVersion(sql, demo.clientId);
  await addTenant(sql, 'demo-11');
  t.equal(await readAccessRevision(sql), before);
  await disableClient(sql, 'demo-11');
  t.not(await readAccessRevision(sql), before);
  nowMs += 1_000;
  t.match(await ask(), { role: 'api-user' });
});

scene('a clock that is set back serves no withdrawn credential', async (t, { sql }) => {
  const setClock = settableClock(t);
  const demo = await addTenant(sql, 'demo-7');
  const authenticator = new Authenticator(sql, secrets);
  await authenticator.authenticate(bearer(demo.apiUser));
  setClock(-86_400_000);
  await disableClient(sql, 'demo-7');
  await until('it is refused', async () =>
    (await authenticator.authenticate(bearer(demo.apiUser))) === 'disabled' ? true : null,
  );
});

scene('nobody is served beyond the end of a credential, known or not', async (t, { sql }) => {
  const demo = await addTenant(sql, 'demo-4');
  let nowMs = 0;
  const authenticator = new Authenticator(sql, secrets, () => nowMs);
  const owner = { clientId: demo.clientId, clientSlug: 'demo-4', appId: demo.appId };
  await rotateCredential(sql, secrets, owner, 1);
  const endsIn = (seconds: number) => sql`
    update credentials set expires_at = now() + ${seconds}::integer * interval '1 second'
    where expires_at is not null`;
  await endsIn(3);
  t.match(await authenticator.authenticate(bearer(demo.apiUser)), { role: 'api-user' });
  await endsIn(-1);
  nowMs += 3_500;
  t.equal(await authenticator.authenticate(bearer(demo.apiUser)), 'wrong');
});

scene('a question that failed behind a known credential is asked again', async (t, { sql }) => {
  const demo = await addTenant(sql, 'demo-5');
  let nowMs = 0;
  const authenticator = new Authenticator(sql, secrets, () => nowMs);
  const ask = () => authenticator.authenticate(bearer(demo.apiUser));
  await ask();
  nowMs += 700;
  await sql`alter table access_revision rename to no_revision`;
  await sql`alter table credentials rename to hidden`;
  t.match(ask(), { role: 'api-user' }, 'served while it is asked, in vain');
  // Asked after it and answered one after the other: then that question has its answer too.
  for (let n = 0; n < 3; n += 1) {
    const stranger = new Authenticator(sql, secrets);
    await t.rejects(Promise.resolve(stranger.authenticate(bearer(demo.apiUser))));
  }
  await sql`alter table hidden rename to credentials`;
  await sql`alter table no_revision rename to access_revision`;
  await disableClient(sql, 'demo-5');
  const answer = await until('it is refused', async () => {
    const answer = await ask();
    return typeof answer === 'string' ? answer : null;
  });
  t.equal(answer, 'disabled');
});

scene('a store that cannot be asked is neither yes nor no', async (t, { sql }) => {
  const demo = await addTenant(sql, 'demo-3');
  const authenticator = new Authenticator(sql, secrets);
  await sql`alter table credentials rename to hidden`;
  await t.rejects(Promise.resolve(authenticator.authenticate(bearer(demo.apiUser))));
  await sql`alter table hidden rename to credentials`;
  t.match(await authenticator.authenticate(bearer(demo.apiUser)), { role: 'api-user' });
});

t.test('on every store', async (t) => {
  await withStores(t, async (t, store) => {
    for (const { name, play } of scenes) await t.test(name, (t) => play(t, store));
  });
});

/** `REMEMBERED_IDS_MAX`. */
const IDS_MAX = 500_000;
const IDS_OF_KEY = 2_000;
const KEYS = IDS_MAX / IDS_OF_KEY + 1;

const LONG = Array.from({ length: IDS_OF_KEY / 2 }, (_, n) => n + 1);

/** A store in which each token is a credential; one that begins with `tck_` is a limited key. */
function storeOfKeys(tokens: readonly string[]): {
  readonly sql: Sql;
  readonly asked: () => number;
} {
  let asked = 0;
  const rows = new Map(
    tokens.map((token): readonly [string, CredentialRow] => [
      secrets.lookupHash(token).toString('hex'),
      {
        username: token,
        tokenHash: secrets.lookupHash(token),
        passwordHash: null,
        clientId: 1,
        clientSlug: 'demo',
        limits: null,
        hasPolicies: false,
        appId: null,
        disabled: false,
        remainingMs: null,
        key: token.startsWith('tck_')
          ? {
              id: 1,
              scopes: ['send'],
              tagIds: [...LONG],
              groupIds: [...LONG],
              appIds: null,
              maxDevices: null,
            }
          : null,
      },
    ]),
  );
  const sql = (_text: TemplateStringsArray, hashes?: unknown) => {
    // The statement that notes the use of a key has no hashes.
    if (typeof hashes !== 'string') return Promise.resolve([]);
    asked += 1;
    const found = hashes
      .slice(1, -1)
      .split(',')
      .flatMap((hash) => rows.get(hash) ?? []);
    return Promise.resolve(found.map((row) => ({ ...row, revision: 'one' })));
  };
  return { sql: sql as unknown as Sql, asked: () => asked };
}

t.test('long lists make room for each other, and for no other credential', async (t) => {
  const keys = Array.from({ length: KEYS }, (_, n) => `tck_${n}`);
  const { sql, asked } = storeOfKeys(['tcs_plain', ...keys]);
  const authenticator = new Authenticator(sql, secrets, () => 0);
  const isRemembered = (token: string): boolean => authenticator.recall(`Bearer ${token}`) !== null;
  await authenticator.authenticate('Bearer tcs_plain');
  for (const key of keys) await authenticator.authenticate(`Bearer ${key}`);
  t.equal(asked(), KEYS + 1);
  t.ok(isRemembered('tcs_plain'), 'a credential without lists');
  t.notOk(isRemembered('tck_0'), 'the key that was looked up first has made room');
  t.ok(isRemembered(`tck_${KEYS - 1}`), 'the last one');
  t.ok(isRemembered('tck_1'), 'no more than had to go');
});
