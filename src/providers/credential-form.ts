/**
 * Shared parts of the forms of provider credentials. Each fault is a sentence that names its field,
 * and none holds a secret.
 */

import { z } from 'zod';
import type { WantedKey } from './private-key-fault.ts';
import { canonicalKey, privateKeyFault } from './private-key-fault.ts';

export type ParsedCredential<Credential> =
  | { readonly ok: true; readonly credential: Credential }
  /** One sentence per fault. */
  | { readonly ok: false; readonly faults: readonly string[] };

export const text = z
  .string('is missing')
  .min(1, 'is missing')
  .max(255, 'is longer than 255 characters');

/** A private key, kept in one form, however the file was written. */
export const privateKey = (wanted: WantedKey) =>
  z
    .string('is missing')
    .min(1, 'is missing')
    .max(16_384, 'is too long for a key')
    .superRefine((key, context) => {
      const fault = privateKeyFault(key, wanted);
      if (fault !== null) context.addIssue(fault);
    })
    .transform(canonicalKey);

export const sentencesOf = (error: z.ZodError): readonly string[] =>
  error.issues.map(({ path, message }) =>
    path.length === 0 ? `The credential ${message}.` : `${path.join('.')} ${message}.`,
  );
