/** Checks a Web Push credential: VAPID keys, the account for browsers' FCM tokens, or both. */

import type { JsonWebKey } from 'node:crypto';
import { createECDH, createPrivateKey } from 'node:crypto';
import { z } from 'zod';
import { isObject } from '../../../packages/std/src/json.ts';
import { isNameText, NAME_FAULT } from '../../std/name-text.ts';
import { formFaults, strictForm } from '../../std/strict-form.ts';
import type { ParsedCredential } from '../credential-form.ts';
import { parseFcm } from '../fcm/credential-form.ts';
import type { FcmOrigins } from '../fcm/origins.ts';
import type { VapidKeys, WebPushCredential } from './credential.ts';

const PRIVATE_KEY_OCTETS = 32;
const PUBLIC_KEY_OCTETS = 65;

const text = z.string('is missing').min(1, 'is missing').max(16_384, 'is too long');

/** Private and public key agree; both are kept in base64url. */
const vapidForm = z
  .object(
    {
      privateKey: text,
      publicKey: text.optional(),
      subject: text.superRefine((subject, context) => {
        const fault = subjectFault(subject);
        if (fault !== null) context.addIssue(fault);
      }),
    },
    'must be an object with privateKey and subject',
  )
  .transform(({ privateKey, publicKey, subject }, context): VapidKeys => {
    const keys = keysOf(privateKey);
    const refuse = (field: string, message: string) => {
      context.addIssue({ code: 'custom', path: [field], message });
      return z.NEVER;
    };
    if (typeof keys === 'string') return refuse('privateKey', keys);
    if (publicKey !== undefined && !isSameKey(publicKey, keys.publicKey)) {
      return refuse('publicKey', 'is not the public half of privateKey');
    }
    return { ...keys, subject };
  });

const form = strictForm({
  vapid: vapidForm.optional(),
  serviceAccount: z.unknown().optional(),
});

/** Parses keys for subscriptions and an account for FCM tokens; each is checked by itself. */
export function parseWebPush(
  input: unknown,
  origins: Pick<FcmOrigins, 'oauth'>,
): ParsedCredential<WebPushCredential> {
  const parsed = form.safeParse(input);
  const serviceAccountGiven = isObject(input) ? input['serviceAccount'] : undefined;
  const account =
    serviceAccountGiven === undefined
      ? null
      : parseFcm({ serviceAccount: serviceAccountGiven }, origins);
  const faults = [
    ...(parsed.success ? [] : formFaults(parsed.error)),
    ...(account === null || account.ok ? [] : account.faults),
  ];
  if (!parsed.success || faults.length > 0) return { ok: false, faults };
  const vapid = parsed.data.vapid ?? null;
  const serviceAccount = account?.ok ? account.credential.serviceAccount : null;
  if (vapid === null && serviceAccount === null) {
    return { ok: false, faults: [{ path: '', message: 'must have vapid or serviceAccount' }] };
  }
  return { ok: true, credential: { kind: 'webpush', vapid, serviceAccount } };
}

/** A fresh pair, as `web-push generate-vapid-keys` writes it. */
export function generateVapidKeys(): Omit<VapidKeys, 'subject'> {
  const pair = createECDH('prime256v1');
  pair.generateKeys();
  return pairOf(pair.getPrivateKey());
}

function keysOf(privateKey: string): Omit<VapidKeys, 'subject'> | string {
  if (privateKey.includes('-----BEGIN')) return keysOfPem(privateKey);
  const octets = Buffer.from(privateKey.trim(), 'base64url');
  if (octets.length !== PRIVATE_KEY_OCTETS) {
    return `is neither ${PRIVATE_KEY_OCTETS} octets in base64url nor a private key in PKCS 8 PEM form`;
  }
  try {
    return pairOf(octets);
  } catch {
    return 'is no private key of P-256';
  }
}

function keysOfPem(pem: string): Omit<VapidKeys, 'subject'> | string {
  let key: JsonWebKey;
  try {
    key = createPrivateKey(pem).export({ format: 'jwk' });
  } catch {
    // OpenSSL's message does not help, and may quote the key.
    return 'is not a private key in PKCS 8 PEM form';
  }
  if (key.crv !== 'P-256' || key.d === undefined) return 'is a key that is not P-256';
  return pairOf(Buffer.from(key.d, 'base64url'));
}

function pairOf(privateKey: Buffer): Omit<VapidKeys, 'subject'> {
  const pair = createECDH('prime256v1');
  pair.setPrivateKey(privateKey);
  // OpenSSL leaves out leading zeros; JOSE needs all 32 octets (RFC 7518, 6.2.2.1).
  const octets = Buffer.alloc(PRIVATE_KEY_OCTETS);
  privateKey.copy(octets, PRIVATE_KEY_OCTETS - privateKey.length);
  return {
    privateKey: octets.toString('base64url'),
    publicKey: pair.getPublicKey().toString('base64url'),
  };
}

function isSameKey(given: string, publicKey: string): boolean {
  const octets = Buffer.from(given.trim(), 'base64url');
  return octets.length === PUBLIC_KEY_OCTETS && octets.toString('base64url') === publicKey;
}

const MAIL = /^mailto:[^\s<>@]+@([^\s<>@]+)$/;
const NOT_A_PLACE = /(?:^|\.)(?:localhost|invalid)$/i;

/** Apple refuses every push whose subject is no public address (BadJwtToken). */
function subjectFault(subject: string): string | null {
  if (!isNameText(subject)) return NAME_FAULT;
  const host = MAIL.exec(subject)?.[1] ?? httpsHost(subject);
  if (host === null) return 'must be mailto: with an e-mail address, or an https: URL';
  return NOT_A_PLACE.test(host) ? `must be reachable from elsewhere: ${host} is not` : null;
}

function httpsHost(subject: string): string | null {
  if (!subject.startsWith('https://') || WHITE_OR_ANGLE.test(subject)) return null;
  return URL.canParse(subject) ? new URL(subject).hostname : null;
}

const WHITE_OR_ANGLE = /[\s<>]/;
