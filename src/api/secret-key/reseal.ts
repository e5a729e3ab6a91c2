/** Brings all from SECRET_KEY_OTHER under SECRET_KEY, in pieces; another run does the rest. */

import { identityOf } from '../../access/credentials.ts';
import type { Secrets } from '../../access/secrets.ts';
import {
  readCredentials,
  readKeys,
  readPlatforms,
  readTokens,
  readWebhookSecrets,
  writeCredential,
  writeKey,
  writePlatform,
  writeSealedToken,
  writeWebhookSecrets,
} from '../../access/sql/reseal.ts';
import type { Sql, SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import { keyIdentityOf } from '../../keys/keys.ts';
import { providerIdentityOf } from '../../provider-credentials/provider-credentials.ts';
import { tokenIdentityOf } from '../../provider-credentials/provider-tokens.ts';
import { webhookIdentityOf } from '../../webhooks/secret.ts';

/** The pieces sealed with SECRET_KEY, in the order in which they are sealed under a new one. */
export const SEALED_KINDS = [
  'credentials',
  'keys',
  'provider-credentials',
  'provider-tokens',
  'webhooks',
] as const;
type SealedKind = (typeof SEALED_KINDS)[number];

/** The last row that is done: an id, or the identity of a token. Undefined: none is. */
type After = number | string | undefined;

interface SealedPosition {
  readonly kind: SealedKind;
  readonly after?: After;
}

interface Piece {
  readonly changed: number;
  /** Left as they were: made with neither key, or damaged. */
  readonly unreadable: number;
  /** Null: there was no row any more. */
  readonly last: number | string | null;
}

interface ResealedPiece extends Omit<Piece, 'last'> {
  /** Null: everything is done. */
  readonly next: SealedPosition | null;
}

/** One piece, which is a transaction of its own. */
export async function resealPiece(
  sql: SqlPool,
  secrets: Secrets,
  { kind, after }: SealedPosition,
): Promise<ResealedPiece> {
  const { last, ...counts } = await transact(sql, (tx) => RESEAL[kind](tx, secrets, after));
  if (last !== null) return { ...counts, next: { kind, after: last } };
  const following = SEALED_KINDS[SEALED_KINDS.indexOf(kind) + 1];
  return { ...counts, next: following === undefined ? null : { kind: following } };
}

/** Writes each row that `change` can bring under the new key. */
async function piece<Row>(
  rows: readonly Row[],
  positionOf: (row: Row) => number | string,
  change: (row: Row) => Promise<void> | null,
): Promise<Piece> {
  let changed = 0;
  for (const row of rows) {
    const written = change(row);
    if (written === null) continue;
    await written;
    changed += 1;
  }
  const last = rows.at(-1);
  return {
    last: last === undefined ? null : positionOf(last),
    changed,
    unreadable: rows.length - changed,
  };
}

/** The secret, and the same sealed again. Null: it cannot be opened. */
function reseal(secrets: Secrets, sealed: Buffer, keyId: string, identity: string) {
  const opened = secrets.open(sealed, keyId, identity);
  if (opened.kind !== 'opened') return null;
  return { plain: opened.plain, sealed: secrets.seal(opened.plain, identity) };
}

/** A text that is no id begins again, which does nothing twice. */
const idOf = (after: After): number => (typeof after === 'number' ? after : 0);

async function resealCredentials(tx: Sql, secrets: Secrets, after: After) {
  const rows = await readCredentials(tx, secrets.keyId, idOf(after));
  return piece(
    rows,
    ({ id }) => id,
    (row) => {
      const { username, keyId } = row;
      const token = reseal(secrets, row.tokenSealed, keyId, identityOf(username, 'token'));
      const password = reseal(secrets, row.passwordSealed, keyId, identityOf(username, 'password'));
      if (token === null || password === null) return null;
      return writeCredential(tx, {
        ...row,
        tokenSealed: token.sealed,
        passwordSealed: password.sealed,
        tokenHash: secrets.lookupHash(token.plain),
        passwordHash: secrets.lookupHash(password.plain),
        keyId: secrets.keyId,
      });
    },
  );
}

async function resealKeys(tx: Sql, secrets: Secrets, after: After) {
  const rows = await readKeys(tx, secrets.keyId, idOf(after));
  return piece(
    rows,
    ({ id }) => id,
    (row) => {
      const token = reseal(secrets, row.tokenSealed, row.keyId, keyIdentityOf(row.username));
      if (token === null) return null;
      const tokenHash = secrets.lookupHash(token.plain);
      return writeKey(tx, { ...row, tokenSealed: token.sealed, tokenHash, keyId: secrets.keyId });
    },
  );
}

function resealed(
  secrets: Secrets,
  sealed: Buffer | null,
  keyId: string | null,
  identity: string,
): Buffer | null | 'unreadable' {
  if (sealed === null || keyId === null) return null;
  return reseal(secrets, sealed, keyId, identity)?.sealed ?? 'unreadable';
}

async function resealPlatforms(tx: Sql, secrets: Secrets, after: After) {
  const rows = await readPlatforms(tx, secrets.keyId, idOf(after));
  return piece(
    rows,
    ({ appId }) => appId,
    (row) => {
      const identity = providerIdentityOf(row.appId, row.platformId);
      const sealed = resealed(secrets, row.sealed, row.keyId, identity);
      const previousSealed = resealed(secrets, row.previousSealed, row.previousKeyId, identity);
      if (sealed === 'unreadable' || previousSealed === 'unreadable') return null;
      return writePlatform(tx, {
        ...row,
        sealed,
        keyId: sealed === null ? null : secrets.keyId,
        previousSealed,
        previousKeyId: previousSealed === null ? null : secrets.keyId,
      });
    },
  );
}

async function resealWebhooks(tx: Sql, secrets: Secrets, after: After) {
  const rows = await readWebhookSecrets(tx, secrets.keyId, idOf(after));
  return piece(
    rows,
    ({ id }) => id,
    (row) => {
      const identity = webhookIdentityOf(row.id);
      const sealed = resealed(secrets, row.sealed, row.keyId, identity);
      const previous = resealed(secrets, row.previousSealed, row.previousKeyId, identity);
      if (sealed === null || sealed === 'unreadable' || previous === 'unreadable') return null;
      return writeWebhookSecrets(tx, {
        ...row,
        sealed,
        keyId: secrets.keyId,
        previousSealed: previous,
        previousKeyId: previous === null ? null : secrets.keyId,
      });
    },
  );
}

async function resealTokens(tx: Sql, secrets: Secrets, after: After) {
  const rows = await readTokens(tx, secrets.keyId, typeof after === 'string' ? after : '');
  return piece(
    rows,
    ({ identity }) => identity,
    ({ identity, sealed, keyId }) => {
      const token = reseal(secrets, sealed, keyId, tokenIdentityOf(identity));
      if (token === null) return null;
      return writeSealedToken(tx, { identity, sealed: token.sealed, keyId: secrets.keyId });
    },
  );
}

const RESEAL: Readonly<
  Record<SealedKind, (tx: Sql, secrets: Secrets, after: After) => Promise<Piece>>
> = {
  credentials: resealCredentials,
  keys: resealKeys,
  'provider-credentials': resealPlatforms,
  'provider-tokens': resealTokens,
  webhooks: resealWebhooks,
};
