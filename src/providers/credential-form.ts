/** Shared parts of the forms of credentials. Each fault names its field, and holds no secret. */

import { z } from 'zod';
import { isNameText, NAME_FAULT } from '../std/name-text.ts';
import type { WantedKey } from './private-key-fault.ts';
import { canonicalKey, privateKeyFault } from './private-key-fault.ts';

export type ParsedCredential<Credential> =
  | { readonly ok: true; readonly credential: Credential }
  | { readonly ok: false; readonly faults: readonly CredentialFault[] };

export interface CredentialFault {
  /** The field; '': the whole credential. */
  readonly path: string;
  /** Describes the fault: a sentence without its subject and its full stop. */
  readonly message: string;
}

export const text = z
  .string('is missing')
  .min(1, 'is missing')
  .max(255, 'is longer than 255 characters')
  .refine(isNameText, NAME_FAULT);

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
