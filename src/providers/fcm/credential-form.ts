/** Checks a client's input for an FCM credential: the JSON file of a service account. */

import { z } from 'zod';
import { formFaults, strictForm } from '../../std/strict-form.ts';
import type { ParsedCredential } from '../credential-form.ts';
import { privateKey, text } from '../credential-form.ts';
import type { WantedKey } from '../private-key-fault.ts';
import type { FcmCredential } from './credential.ts';
import type { FcmOrigins } from './origins.ts';
import { wrongFileFault } from './wrong-file.ts';

/** Keys of Google's service accounts are RSA; Google issues none shorter than this. */
const RSA_BITS_MIN = 2_048;
const FILE = 'that the Google Cloud or Firebase console gave when the key was made';

/** Google wants RSA (RS256). */
export const GOOGLE_KEY: WantedKey = {
  file: FILE,
  certificateUse: '',
  pkcs1: null,
  json: 'is a whole JSON file: give it as serviceAccount',
  faultOf({ asymmetricKeyType: type = 'unknown', asymmetricKeyDetails: details }) {
    if (type === 'rsa' && (details?.modulusLength ?? 0) >= RSA_BITS_MIN) return null;
    const found = type === 'rsa' ? `has ${details?.modulusLength} bits` : `is of the kind ${type}`;
    return `is not an RSA key of ${RSA_BITS_MIN} bits or more (it ${found}): give the file ${FILE}`;
  },
};

const serviceAccountForm = z.object(
  {
    type: z.literal('service_account', 'must be service_account').optional(),
    project_id: text.regex(/^[a-z0-9:.-]+$/, 'is not the id of a project'),
    private_key_id: text,
    private_key: privateKey(GOOGLE_KEY),
    client_email: text.regex(/^[^@\s]+@[^@\s]+$/, 'is not an e-mail address'),
    token_uri: z.string('must be a URL').optional(),
  },
  'must be the JSON object of a service account file',
);

/** Parses and checks an FCM credential. `oauth`: the operator's origin for access tokens. */
export function parseFcm(
  input: unknown,
  { oauth }: Pick<FcmOrigins, 'oauth'>,
): ParsedCredential<FcmCredential> {
  const wrong = wrongFileFault(input);
  if (wrong !== null) return { ok: false, faults: [wrong] };
  const parsed = strictForm({ serviceAccount: serviceAccountForm }).safeParse(input);
  if (!parsed.success) return { ok: false, faults: formFaults(parsed.error) };
  const { project_id, private_key_id, private_key, client_email, token_uri } =
    parsed.data.serviceAccount;
  if (token_uri !== undefined && originOf(token_uri) !== oauth) {
    const message = `must be at ${oauth}, the only place where this service asks for access tokens`;
    return { ok: false, faults: [{ path: 'serviceAccount.token_uri', message }] };
  }
  const serviceAccount = { project_id, private_key_id, private_key, client_email };
  return { ok: true, credential: { kind: 'fcm', serviceAccount } };
}

const originOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).origin : null);
