/** The access tokens that the OAuth endpoint issued and FCM accepts, until they expire. */

import { randomBytes } from 'node:crypto';
import { CappedMap } from '../../../std/src/capped-map.ts';

/** Google's number for a token that lives an hour: a second is spent on the way. */
export const EXPIRES_IN_SECONDS = 3_599;

/** An engine needs one token per hour and process; beyond this number the oldest is lost. */
const ACCESS_TOKENS_MAX = 10_000;

interface IssuedToken {
  readonly projectId: string;
  readonly expiresAtMs: number;
}

export class AccessTokens {
  readonly #issued = new CappedMap<string, IssuedToken>({ sizeMax: ACCESS_TOKENS_MAX });

  issue(projectId: string, nowMs: number): string {
    const token = `ya29.${randomBytes(96).toString('base64url')}`;
    this.#issued.set(token, { projectId, expiresAtMs: nowMs + EXPIRES_IN_SECONDS * 1_000 });
    return token;
  }

  /** The project that a token may send for; undefined when it was never issued or has expired. */
  projectOf(token: string, nowMs: number): string | undefined {
    const issued = this.#issued.get(token);
    return issued !== undefined && issued.expiresAtMs > nowMs ? issued.projectId : undefined;
  }
}
