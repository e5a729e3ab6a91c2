/** The secret of a webhook and its signatures, by Standard Webhooks (standardwebhooks.com). */

import { createHmac, randomBytes } from 'node:crypto';
import type { Secrets } from '../access/secrets.ts';
import type { SealedSecret } from './sql/webhooks.ts';

const PREFIX = 'whsec_';
/** Standard Webhooks: 24 to 64. */
const SECRET_BYTES = 32;

/** In the form in which receivers get it. */
export const makeWebhookSecret = (): string =>
  PREFIX + randomBytes(SECRET_BYTES).toString('base64');

/** Seals it for its webhook. */
export const sealWebhookSecret = (secrets: Secrets, id: number, secret: string): SealedSecret => ({
  sealed: secrets.seal(secret, webhookIdentityOf(id)),
  keyId: secrets.keyId,
});

/** Null: it was sealed under another SECRET_KEY, or is damaged. */
export function openWebhookSecret(
  secrets: Secrets,
  id: number,
  { sealed, keyId }: SealedSecret,
): string | null {
  const opened = secrets.open(sealed, keyId, webhookIdentityOf(id));
  return opened.kind === 'opened' ? opened.plain : null;
}

/** The identity that a sealed secret is bound to. */
export const webhookIdentityOf = (id: number): string => `webhook:${id}`;

interface SignedParts {
  readonly id: string;
  /** The time of the attempt; receivers refuse one that is minutes old. */
  readonly timestampSeconds: number;
  readonly body: string;
}

/** The header `webhook-signature`: one signature for each secret, the newest first. */
export const signatureOf = (secrets: readonly string[], parts: SignedParts): string =>
  secrets.map((secret) => `v1,${sign(secret, parts)}`).join(' ');

function sign(secret: string, { id, timestampSeconds, body }: SignedParts): string {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  return createHmac('sha256', key).update(`${id}.${timestampSeconds}.${body}`).digest('base64');
}
