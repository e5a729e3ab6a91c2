/** Recognises Google's JSON files that are mistaken for a service account. */

import { z } from 'zod';
import type { CredentialFault } from '../credential-form.ts';

/** Null: it may be a service account. */
export function wrongFileFault(input: unknown): CredentialFault | null {
  const given = z.object({ serviceAccount: z.record(z.string(), z.unknown()) }).safeParse(input);
  if (!given.success) return null;
  const fields = given.data.serviceAccount;
  const kind = KINDS.find(({ field }) => Object.hasOwn(fields, field));
  if (kind === undefined) return null;
  return { path: 'serviceAccount', message: `is ${kind.what}. ${WAY_OUT}` };
}

const WAY_OUT =
  'The file of a service account comes from the Firebase console: Project settings, Service accounts, Generate new private key';

const KINDS: readonly { readonly field: string; readonly what: string }[] = [
  { field: 'project_info', what: 'google-services.json, the file of the Android app' },
  { field: 'apiKey', what: "the firebaseConfig of a web app's page" },
  { field: 'installed', what: "an OAuth client's file" },
  { field: 'web', what: "an OAuth client's file" },
  { field: 'refresh_token', what: "the credentials of a person's own sign-in (gcloud)" },
  { field: 'credential_source', what: 'a workload identity federation file' },
  { field: 'teamId', what: 'a credential of APNs' },
];
