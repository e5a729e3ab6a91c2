/**
 * One-time links: a person with one may join a client, sign up, set a password or sign in, once.
 * Only the hash of its token is stored.
 */

import type { Sql } from '../../database/sql.ts';
import type { MemberRole } from '../../domain/caller.ts';
import { Batcher } from '../../std/batcher.ts';
import { randomSecret } from '../random-text.ts';
import type { Secrets } from '../secrets.ts';
import type { FoundLink, LinkRow } from '../sql/links.ts';
import { countLinks, findLinks, insertLink, takeLink } from '../sql/links.ts';

/**
 * internals/interface.md, "Operator and console": an hour.
 * @limit a one-time link → `400`
 */
const LINK_MS = 3_600_000;
/**
 * Only who sees the terminal of the start has it, and may come back later.
 * @limit the link of a demo's start → `401`
 */
const SIGN_IN_LINK_MS = 86_400_000;
/**
 * Used ones are not counted. An owner invites a team at once.
 * @limit unused links of a client → `409`; the command refuses
 */
export const LINKS_PER_CLIENT_MAX = 100;

/** @limit links looked up in one query; one such query at a time → the next query */
const BATCH_MAX = 1_000;

const LINK_PREFIX = 'tcl_';

export type Link =
  | { readonly kind: 'invitation'; readonly clientId: number; readonly role: MemberRole }
  | { readonly kind: 'sign-up' }
  /** `clientId`: whose owner asked for it; null: the operator did. */
  | { readonly kind: 'reset'; readonly accountId: number; readonly clientId: number | null }
  | { readonly kind: 'sign-in'; readonly accountId: number };

export interface MadeLink {
  /** The path of its page. The token follows the `#`: no server's log has it. */
  readonly path: string;
  readonly expiresAtMs: number;
}

/** Makes a link within a transaction. */
export async function makeLink(tx: Sql, secrets: Secrets, link: Link): Promise<MadeLink> {
  const token = LINK_PREFIX + randomSecret();
  const expiresAtMs = await insertLink(tx, {
    clientId: null,
    role: null,
    accountId: null,
    ...link,
    tokenHash: secrets.lookupHash(token),
    lifetimeMs: link.kind === 'sign-in' ? SIGN_IN_LINK_MS : LINK_MS,
  });
  return { path: `/console/#/${link.kind}/${token}`, expiresAtMs };
}

/** Whether a client has as many links as it may. The client is locked. */
export const hasTooManyLinks = async (tx: Sql, clientId: number): Promise<boolean> =>
  (await countLinks(tx, clientId)) >= LINKS_PER_CLIENT_MAX;

/**
 * Finds the links of tokens. Everybody may ask, and guess: tokens that come during a query go into
 * the next one, so all who guess have one connection to the database together.
 */
export class LinkLookup {
  readonly #secrets: Secrets;
  readonly #batches: Batcher<readonly Buffer[], Link | null>;

  constructor(sql: Sql, secrets: Secrets) {
    this.#secrets = secrets;
    this.#batches = new Batcher({
      itemsMax: BATCH_MAX,
      run: async (asked) => linksOf(asked, await findLinks(sql, asked.flat())),
    });
  }

  /** Null: there is none, it was used, or it has ended. */
  find(token: string): Promise<Link | null> {
    return this.#batches.submit(this.#secrets.lookupHashes(token));
  }
}

/** `asked`: the hashes of each token. */
function linksOf(
  asked: readonly (readonly Buffer[])[],
  rows: readonly FoundLink[],
): readonly (Link | null)[] {
  const byHash = new Map(rows.map((row) => [row.tokenHash.toString('latin1'), row]));
  return asked.map((hashes) => {
    const found = hashes.map((hash) => byHash.get(hash.toString('latin1')) ?? null);
    return linkOf(found.find((row) => row !== null) ?? null);
  });
}

export const useLink = async (tx: Sql, secrets: Secrets, token: string): Promise<Link | null> =>
  linkOf(await takeLink(tx, secrets.lookupHashes(token)));

function linkOf(row: LinkRow | null): Link | null {
  if (row === null) return null;
  const { kind, clientId, role, accountId } = row;
  switch (kind) {
    case 'invitation':
      return clientId === null ? null : { kind, clientId, role: role as MemberRole };
    case 'sign-up':
      return { kind };
    case 'reset':
      return accountId === null ? null : { kind, accountId, clientId };
    case 'sign-in':
      return accountId === null ? null : { kind, accountId };
  }
}
