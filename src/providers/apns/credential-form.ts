/** Checks a client's input for an APNs credential: a team's key, and the app that it is for. */

import { z } from 'zod';
import { formFaults, strictForm } from '../../std/strict-form.ts';
import type { ParsedCredential } from '../credential-form.ts';
import { privateKey, text } from '../credential-form.ts';
import type { WantedKey } from '../private-key-fault.ts';
import type { ApnsCredential } from './credential.ts';

const FILE = 'AuthKey_<key id>.p8 that Apple gave when the key was made';

/** Apple wants P-256 (ES256). */
export const APNS_KEY: WantedKey = {
  file: FILE,
  certificateUse: ', and Tagcast signs in to APNs with a key, not with a certificate',
  pkcs1: `is an RSA key, and APNs takes P-256 only: give the file ${FILE}`,
  json: `is JSON, as a Google service account is: give the file ${FILE}`,
  faultOf({ asymmetricKeyType: type = 'unknown', asymmetricKeyDetails: details }) {
    const curve = details?.namedCurve;
    if (type === 'ec' && curve === 'prime256v1') return null;
    const found = type === 'ec' ? `on the curve ${curve}` : `of the kind ${type}`;
    return `is a key that is not P-256 (it is ${found}): give the file ${FILE}`;
  },
};

const APPLE_ID = /^[A-Z0-9]{10}$/;
const appleId = (where: string) =>
  z
    .string(`is missing: ${where}`)
    .regex(APPLE_ID, `must be 10 capital letters and digits: ${where}`);

/** Strict: a misspelt `environment` would send to the wrong one. */
const fields = strictForm({
  teamId: appleId('it is on the page Membership details of the developer account'),
  keyId: appleId("it is in the name of the key's file, AuthKey_<key id>.p8"),
  privateKey: privateKey(APNS_KEY),
  bundleId: text.regex(/^[A-Za-z0-9.-]+$/, 'must be letters, digits, dots and hyphens'),
  environment: z
    .enum(['production', 'sandbox'], 'must be production or sandbox')
    .default('production'),
});

const form = fields.superRefine(({ teamId, keyId, bundleId }, context) => {
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

export function parseApns(input: unknown): ParsedCredential<ApnsCredential> {
  const parsed = form.safeParse(input);
  return parsed.success
    ? { ok: true, credential: { kind: 'apns', ...parsed.data } }
    : { ok: false, faults: formFaults(parsed.error) };
}
