/**
 * Credentials of the providers: checked when they are put, sealed at rest, opened for the senders only. An address in
 * them is compared with the operator's and never called (spec/interface.md, section 5).
 */

import type { KeyObject } from 'node:crypto';
import { createPrivateKey } from 'node:crypto';
import { z } from 'zod';
import type { ProviderCredential } from '../domain/credential.ts';
import { PLATFORM_APNS, PLATFORM_FCM, PLATFORM_WEB_PUSH } from '../domain/device.ts';
import { readSealedCredential, writeSealedCredential } from '../store/apps/provider-credential.ts';
import type { Sql } from '../store/sql.ts';
import type { Secrets } from './secrets.ts';
import { vapidForm } from './web-push-credential.ts';

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

/** What Google signs service accounts' tokens with is RSA; shorter keys than this are not issued. */
const RSA_BITS_MIN = 2_048;

const appleId = z
  .string('is missing')
  .regex(/^[A-Z0-9]{10}$/, 'must be 10 capital letters and digits');
const text = z.string('is missing').min(1, 'is missing').max(255, 'is longer than 255 characters');
const pem = z.string('is missing').min(1, 'is missing').max(16_384, 'is too long for a key');

const apnsForm = z.object({
  teamId: appleId,
  keyId: appleId,
  privateKey: pem.superRefine((key, context) => {
    const fault = apnsKeyFault(key);
    if (fault !== null) context.addIssue(fault);
  }),
  bundleId: text.regex(/^[A-Za-z0-9.-]+$/, 'must be letters, digits, dots and hyphens'),
  environment: z
    .enum(['production', 'sandbox'], 'must be production or sandbox')
    .default('production'),
});

const serviceAccountForm = z.object(
  {
    type: z.literal('service_account', 'must be service_account').optional(),
    project_id: text.regex(/^[a-z0-9:.-]+$/, 'is not the id of a project'),
    private_key_id: text,
    private_key: pem.superRefine((key, context) => {
      const fault = serviceAccountKeyFault(key);
      if (fault !== null) context.addIssue(fault);
    }),
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
  const form = z.object({ vapid: vapidForm.optional(), serviceAccount: z.unknown().optional() });
  const parsed = form.safeParse(input);
  const hasAccount = parsed.data?.serviceAccount !== undefined;
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

function apnsKeyFault(pemText: string): string | null {
  const key = readPrivateKey(pemText);
  if (key === null) return 'is not a private key in PKCS 8 PEM form';
  return key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === 'prime256v1'
    ? null
    : 'is a key that is not P-256';
}

function serviceAccountKeyFault(pemText: string): string | null {
  const key = readPrivateKey(pemText);
  if (key === null) return 'is not a private key in PKCS 8 PEM form';
  return key.asymmetricKeyType === 'rsa' &&
    (key.asymmetricKeyDetails?.modulusLength ?? 0) >= RSA_BITS_MIN
    ? null
    : `is not an RSA key of ${RSA_BITS_MIN} bits or more`;
}

function readPrivateKey(pemText: string): KeyObject | null {
  if (!pemText.includes('-----BEGIN PRIVATE KEY-----')) return null;
  try {
    return createPrivateKey(pemText);
  } catch {
    // OpenSSL's words for it help nobody, and may quote the key.
    return null;
  }
}

const originOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).origin : null);

const sentencesOf = (error: z.ZodError): readonly string[] =>
  error.issues.map(({ path, message }) =>
    path.length === 0 ? `The credential ${message}.` : `${path.join('.')} ${message}.`,
  );

/** Seals and stores it; null clears it. Answers whether the app is on this platform. */
export function writeProviderCredential(
  sql: Sql,
  secrets: Secrets,
  appId: number,
  platformId: number,
  credential: ProviderCredential | null,
): Promise<boolean> {
  const sealed =
    credential === null
      ? null
      : {
          sealed: secrets.seal(JSON.stringify(credential), identityOf(appId, platformId)),
          keyId: secrets.keyId,
        };
  return writeSealedCredential(sql, appId, platformId, sealed);
}

/** Opens it for a sender. */
export async function readProviderCredential(
  sql: Sql,
  secrets: Secrets,
  appId: number,
  platformId: number,
): Promise<OpenedCredential> {
  const row = await readSealedCredential(sql, appId, platformId);
  if (row === undefined) return { kind: 'not-on-platform' };
  if (row === null) return { kind: 'none' };
  const opened = secrets.open(row.sealed, row.keyId, identityOf(appId, platformId));
  // Only writeProviderCredential writes there, and the authentication tag says that nobody else did.
  return opened.kind === 'opened'
    ? { kind: 'opened', credential: JSON.parse(opened.plain) as ProviderCredential }
    : { kind: 'unreadable', keyId: row.keyId };
}

/** What a sealed credential is bound to. */
const identityOf = (appId: number, platformId: number): string => `provider:${appId}:${platformId}`;
