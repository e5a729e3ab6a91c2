/**
 * Credentials of the providers: checked when they are put, sealed at rest, opened for the senders only. An address in
 * them is compared with the operator's and never called (spec/interface.md, section 5).
 */

import { z } from 'zod';
import type { Secrets } from '../access/secrets.ts';
import type { ProviderCredential } from '../domain/credential.ts';
import { PLATFORM_APNS, PLATFORM_FCM, PLATFORM_WEB_PUSH } from '../domain/device.ts';
import { isObject } from '../domain/payload.ts';
import type { Predecessor, SealedCredential } from '../store/apps/provider-credential.ts';
import { readSealedCredential, writeSealedCredential } from '../store/apps/provider-credential.ts';
import type { Sql } from '../store/sql.ts';
import type { Signer } from './private-key-fault.ts';
import { canonicalKey, privateKeyFault } from './private-key-fault.ts';
import { vapidForm } from './web-push-credential.ts';
import { wrongFileFault } from './wrong-file.ts';

export type ParsedCredential =
  | { readonly ok: true; readonly credential: ProviderCredential }
  /** One sentence per fault, each naming its field; none holds a secret. */
  | { readonly ok: false; readonly faults: readonly string[] };

export type OpenedCredential =
  | { readonly kind: 'opened'; readonly credential: ProviderCredential }
  | { readonly kind: 'none' }
  | { readonly kind: 'not-on-platform' }
  /** Sealed under another SECRET_KEY, or damaged. */
  | { readonly kind: 'unreadable'; readonly keyId: string };

const APPLE_ID = /^[A-Z0-9]{10}$/;
const appleId = (where: string) =>
  z.string('is missing').regex(APPLE_ID, `must be 10 capital letters and digits: ${where}`);
const text = z.string('is missing').min(1, 'is missing').max(255, 'is longer than 255 characters');
const privateKey = (signer: Signer) =>
  z
    .string('is missing')
    .min(1, 'is missing')
    .max(16_384, 'is too long for a key')
    .superRefine((key, context) => {
      const fault = privateKeyFault(key, signer);
      if (fault !== null) context.addIssue(fault);
    })
    .transform(canonicalKey);

const apnsFields = z.object({
  teamId: appleId('it is on the page Membership details of the developer account'),
  keyId: appleId("it is in the name of the key's file, AuthKey_<key id>.p8"),
  privateKey: privateKey('apns'),
  bundleId: text.regex(/^[A-Za-z0-9.-]+$/, 'must be letters, digits, dots and hyphens'),
  environment: z
    .enum(['production', 'sandbox'], 'must be production or sandbox')
    .default('production'),
});

/** What no single field can say. */
const apnsForm = apnsFields.superRefine(({ teamId, keyId, bundleId }, context) => {
  if (teamId === keyId) {
    const message =
      "is the team's id: that of the key is in the name of its file, AuthKey_<key id>.p8";
    context.addIssue({ code: 'custom', path: ['keyId'], message });
  }
  if (bundleId.startsWith(`${teamId}.`)) {
    const message = 'begins with the id of the team: leave that and its dot out';
    context.addIssue({ code: 'custom', path: ['bundleId'], message });
  }
});

const serviceAccountForm = z.object(
  {
    type: z.literal('service_account', 'must be service_account').optional(),
    project_id: text.regex(/^[a-z0-9:.-]+$/, 'is not the id of a project'),
    private_key_id: text,
    private_key: privateKey('fcm'),
    client_email: text.regex(/^[^@\s]+@[^@\s]+$/, 'is not an e-mail address'),
    token_uri: z.string('must be a URL').optional(),
  },
  'must be the JSON object of a service account file',
);

/** Checks what a tenant gave as the credential of one platform. `oauthOrigin` is the operator's. */
export function parseProviderCredential(
  platformId: number,
  input: unknown,
  oauthOrigin: string,
): ParsedCredential {
  switch (platformId) {
    case PLATFORM_APNS:
      return parseApns(input);
    case PLATFORM_FCM:
      return parseFcm(input, oauthOrigin);
    case PLATFORM_WEB_PUSH:
      return parseWebPush(input, oauthOrigin);
    default:
      return { ok: false, faults: [`platform ${platformId} takes no credential.`] };
  }
}

function parseApns(input: unknown): ParsedCredential {
  const parsed = apnsForm.safeParse(input);
  return parsed.success
    ? { ok: true, credential: { kind: 'apns', ...parsed.data } }
    : { ok: false, faults: sentencesOf(parsed.error) };
}

function parseFcm(input: unknown, oauthOrigin: string): ParsedCredential {
  const wrong = wrongFileFault(input);
  if (wrong !== null) return { ok: false, faults: [wrong] };
  const parsed = z.object({ serviceAccount: serviceAccountForm }).safeParse(input);
  if (!parsed.success) return { ok: false, faults: sentencesOf(parsed.error) };
  const { project_id, private_key_id, private_key, client_email, token_uri } =
    parsed.data.serviceAccount;
  if (token_uri !== undefined && originOf(token_uri) !== oauthOrigin) {
    const fault = `serviceAccount.token_uri must be at ${oauthOrigin}, the only place where this service asks for access tokens.`;
    return { ok: false, faults: [fault] };
  }
  const serviceAccount = { project_id, private_key_id, private_key, client_email };
  return { ok: true, credential: { kind: 'fcm', serviceAccount } };
}

/** Keys for subscriptions, an account for FCM tokens: each is checked as if it stood alone. */
function parseWebPush(input: unknown, oauthOrigin: string): ParsedCredential {
  const parsed = z.object({ vapid: vapidForm.optional() }).safeParse(input);
  const hasAccount = isObject(input) && input['serviceAccount'] !== undefined;
  const account = hasAccount ? parseFcm(input, oauthOrigin) : null;
  const faults = [
    ...(parsed.success ? [] : sentencesOf(parsed.error)),
    ...(account === null || account.ok ? [] : account.faults),
  ];
  if (!parsed.success || faults.length > 0) return { ok: false, faults };
  const vapid = parsed.data.vapid ?? null;
  const fcm = account?.ok && account.credential.kind === 'fcm' ? account.credential : null;
  if (vapid === null && fcm === null) {
    return { ok: false, faults: ['The credential must have vapid or serviceAccount.'] };
  }
  const serviceAccount = fcm?.serviceAccount ?? null;
  return { ok: true, credential: { kind: 'webpush', vapid, serviceAccount } };
}

const originOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).origin : null);

const sentencesOf = (error: z.ZodError): readonly string[] =>
  error.issues.map(({ path, message }) =>
    path.length === 0 ? `The credential ${message}.` : `${path.join('.')} ${message}.`,
  );

/** How a put treats what was there, and what is known of the new one's end. */
export interface PutTerms {
  /** The one before it stays as the fallback for so long, if it is of the same account. */
  readonly graceHours: number;
  /** When the key ends, where the operator knows it. */
  readonly expiresAtMs: number | null;
}

/** Long enough that somebody looks, and no longer than a lost key should work. */
export const PROVIDER_GRACE_HOURS = 72;
const DEFAULT_TERMS: PutTerms = { graceHours: PROVIDER_GRACE_HOURS, expiresAtMs: null };
/** Somebody else puts one at the same moment: that many times in a row is a fault of ours. */
const TRIES_MAX = 5;

/** Seals and stores it; null clears it, and the one before it too. Answers whether the app is on this platform. */
export async function writeProviderCredential(
  sql: Sql,
  secrets: Secrets,
  appId: number,
  platformId: number,
  credential: ProviderCredential | null,
  terms: PutTerms = DEFAULT_TERMS,
): Promise<boolean> {
  const sealed =
    credential === null
      ? null
      : {
          sealed: secrets.seal(JSON.stringify(credential), identityOf(appId, platformId)),
          keyId: secrets.keyId,
        };
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const stored = await readSealedCredential(sql, appId, platformId);
    if (stored === undefined) return false;
    const isThere = typeof stored !== 'number';
    const known = isThere ? openCredential(secrets, stored, appId, platformId) : null;
    const isWritten = await writeSealedCredential(sql, appId, platformId, {
      ...terms,
      credential: sealed,
      overVersion: isThere ? stored.version : stored,
      predecessor: predecessorOf(known, credential),
    });
    if (isWritten) return true;
  }
  throw new Error('a credential was put again and again at the same time');
}

/** Only what sends to the same devices can stand in: another team or project would refuse them all. */
function predecessorOf(
  known: ProviderCredential | null,
  credential: ProviderCredential | null,
): Predecessor {
  if (known === null || credential === null) return 'forgotten';
  if (JSON.stringify(known) === JSON.stringify(credential)) return 'unchanged';
  const account = accountOf(credential);
  return account !== null && accountOf(known) === account ? 'kept' : 'forgotten';
}

/** All but the key; null: a credential of this kind has no stand-in. */
function accountOf(credential: ProviderCredential): string | null {
  switch (credential.kind) {
    case 'apns':
      return JSON.stringify([credential.teamId, credential.bundleId, credential.environment]);
    case 'fcm':
      return credential.serviceAccount.project_id;
    default:
      return null;
  }
}

/** Opens the one that was put last. */
export async function readProviderCredential(
  sql: Sql,
  secrets: Secrets,
  appId: number,
  platformId: number,
): Promise<OpenedCredential> {
  const stored = await readSealedCredential(sql, appId, platformId);
  if (stored === undefined) return { kind: 'not-on-platform' };
  if (typeof stored === 'number') return { kind: 'none' };
  const credential = openCredential(secrets, stored, appId, platformId);
  return credential === null
    ? { kind: 'unreadable', keyId: stored.keyId }
    : { kind: 'opened', credential };
}

/** Null: sealed under another SECRET_KEY, or damaged. */
export function openCredential(
  secrets: Secrets,
  { sealed, keyId }: SealedCredential,
  appId: number,
  platformId: number,
): ProviderCredential | null {
  const opened = secrets.open(sealed, keyId, identityOf(appId, platformId));
  // Only writeProviderCredential writes there, and the authentication tag says that nobody else did.
  return opened.kind === 'opened' ? (JSON.parse(opened.plain) as ProviderCredential) : null;
}

/** What a sealed credential is bound to. */
const identityOf = (appId: number, platformId: number): string => `provider:${appId}:${platformId}`;
