/** What keys with long lists of tags take of the memory for credentials. */

import t from 'tap';
import { Authenticator } from '../../src/access/authenticate.ts';
import type { CredentialRow } from '../../src/store/credentials/find-credentials.ts';
import type { Sql } from '../../src/store/sql.ts';
import { secrets } from '../support/api.ts';

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
