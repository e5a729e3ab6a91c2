/**
 * The clients that run in processes of their own, by the name that crosses to it and stands in
 * their rows.
 */

import type { ProviderCredential } from '../../src/providers/providers.ts';
import { firebaseAdmin } from './firebase-admin.ts';
import type { Open } from './flow.ts';
import { nodeHttp2Fcm } from './node-http2-fcm.ts';
import { ours } from './ours.ts';
import { webPush } from './web-push.ts';

export const SENDINGS = {
  ours: ours({}),
  'ours, 1 connection': ours({ connectionsMax: 1 }),
  'node:http2': only('fcm', nodeHttp2Fcm),
  'firebase-admin': only('fcm', firebaseAdmin),
  'web-push': only('webpush', webPush(false)),
  'web-push, keep-alive agent': only('webpush', webPush(true)),
} as const satisfies Readonly<Record<string, Open>>;

export type SendingName = keyof typeof SENDINGS;

/** A client that can only one provider, to be asked with any sink. */
function only<K extends ProviderCredential['kind']>(
  kind: K,
  open: Open<Extract<ProviderCredential, { readonly kind: K }>>,
): Open {
  return (sink, settled) => {
    const { credential } = sink;
    if (!isOf(kind, credential)) throw new Error(`no client of ${credential.kind}`);
    return open({ ...sink, credential }, settled);
  };
}

const isOf = <K extends ProviderCredential['kind']>(
  kind: K,
  credential: ProviderCredential,
): credential is Extract<ProviderCredential, { readonly kind: K }> => credential.kind === kind;
