/**
 * Brings everything that was made with SECRET_KEY_OTHER under SECRET_KEY, in pieces. If it is
 * interrupted, another run does the rest.
 */

import { identityOf } from '../access/credentials.ts';
import type { Secrets } from '../access/secrets.ts';
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
} from '../access/sql/reseal.ts';
import type { Sql, SqlPool } from '../database/sql.ts';
import { transact } from '../database/transact.ts';
import { keyIdentityOf } from '../keys/keys.ts';
import { providerIdentityOf } from '../provider-credentials/provider-credentials.ts';
import { tokenIdentityOf } from '../provider-credentials/provider-tokens.ts';
import { webhookIdentityOf } from '../webhooks/secret.ts';

export interface RotatedKey {
  /** The key that everything is under now. */
  readonly keyId: string;
  readonly changed: number;
  /** Left as they were: made with neither key, or damaged. */
  readonly unreadable: number;
}

/** The result for the rows of one piece. */
type Piece<Position> = {
  readonly last: Position | null;
  readonly changed: number;
  readonly unreadable: number;
};

/** Everything, piece by piece; each is a transaction of its own. */
export async function rotateSecretKey(sql: SqlPool, secrets: Secrets): Promise<RotatedKey> {
  const done = [
    await everyPiece(0, (after) => transact(sql, (tx) => resealCredentials(tx, secrets, after))),
    await everyPiece(0, (after) => transact(sql, (tx) => resealKeys(tx, secrets, after))),
    await everyPiece(0, (after) => transact(sql, (tx) => resealPlatforms(tx, secrets, after))),
    await everyPiece('', (after) => transact(sql, (tx) => resealTokens(tx, secrets, after))),
    await everyPiece(0, (after) => transact(sql, (tx) => resealWebhooks(tx, secrets, after))),
  ];
  return {
    keyId: secrets.keyId,
    changed: done.reduce((sum, { changed }) => sum + changed, 0),
    unreadable: done.reduce((sum, { unreadable }) => sum + unreadable, 0),
  };
}

async function everyPiece<Position>(
  start: Position,
  next: (after: Position) => Promise<Piece<Position>>,
) {
  let changed = 0;
  let unreadable = 0;
  for (let after: Position | null = start; after !== null; ) {
    const piece: Piece<Position> = await next(after);
    changed += piece.changed;
    unreadable += piece.unreadable;
    after = piece.last;
  }
  return { changed, unreadable };
}

/** Writes each row that `change` can bring under the new key. */
async function piece<Row, Position>(
  rows: readonly Row[],
  positionOf: (row: Row) => Position,
  change: (row: Row) => Promise<void> | null,
): Promise<Piece<Position>> {
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

async function resealCredentials(tx: Sql, secrets: Secrets, after: number) {
  const rows = await readCredentials(tx, secrets.keyId, after);
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

async function resealKeys(tx: Sql, secrets: Secrets, after: number) {
  const rows = await readKeys(tx, secrets.keyId, after);
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

/** The secret sealed again, if there is one. */
function resealed(
  secrets: Secrets,
  sealed: Buffer | null,
  keyId: string | null,
  identity: string,
): Buffer | null | 'unreadable' {
  if (sealed === null || keyId === null) return null;
  return reseal(secrets, sealed, keyId, identity)?.sealed ?? 'unreadable';
}

async function resealPlatforms(tx: Sql, secrets: Secrets, after: number) {
  const rows = await readPlatforms(tx, secrets.keyId, after);
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

async function resealWebhooks(tx: Sql, secrets: Secrets, after: number) {
  const rows = await readWebhookSecrets(tx, secrets.keyId, after);
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

async function resealTokens(tx: Sql, secrets: Secrets, after: string) {
  const rows = await readTokens(tx, secrets.keyId, after);
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
