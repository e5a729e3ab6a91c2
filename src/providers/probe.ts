/**
 * Asks a provider whether it takes a credential, with a push for a device that cannot exist: who is told that the device is wrong
 * was let in. Nobody's phone is touched.
 */

import type { ApnsCredential, FcmCredential, ProviderCredential } from '../domain/credential.ts';
import type { Outcome } from '../domain/outcome.ts';
import { DELIVERED } from '../domain/outcome.ts';
import type { PostRequest } from '../transport/compat/post.ts';
import { post } from '../transport/compat/post.ts';
import type { Answer } from '../transport/transport.ts';
import { apnsOutcome } from './apns/answer.ts';
import { apnsOriginOf } from './create-sender.ts';
import { fcmOutcome } from './fcm/answer.ts';
import { targetFieldOf } from './fcm/target.ts';
import type { ProviderOrigins } from './origins.ts';
import { trustedAt } from './origins.ts';

/** An operator waits for it. */
const PROBE_TIMEOUT_MS = 10_000;
const ANSWER_BYTES_MAX = 16_384;

/** One octet is no token of Apple's: refused for its form, whatever the environment. */
const NO_DEVICE = '00';
/** Nor is this one of Google's; `validate_only` besides, so that nothing would be sent to it either. */
const NO_REGISTRATION = 'tagcast-asks-whether-this-credential-works';

/** How the push for nobody ended. */
export function probe(
  credential: ProviderCredential,
  authorization: string,
  origins: ProviderOrigins,
): Promise<Outcome> {
  switch (credential.kind) {
    case 'apns':
      return ask(apnsQuestion(credential, authorization, origins), apnsOutcome);
    case 'fcm':
      return ask(fcmQuestion(credential, authorization, origins), fcmOutcome);
    case 'webpush': {
      const { serviceAccount } = credential;
      // A push service knows a VAPID key by those who subscribed with it only: there is nobody to ask.
      return serviceAccount === null
        ? Promise.resolve(DELIVERED)
        : ask(fcmQuestion({ serviceAccount }, authorization, origins), fcmOutcome);
    }
  }
}

type Question = Pick<PostRequest, 'origin' | 'ca' | 'path' | 'fields' | 'body'>;

async function ask(question: Question, outcomeOf: (answer: Answer) => Outcome): Promise<Outcome> {
  const posted = await post({
    ...question,
    timeoutMs: PROBE_TIMEOUT_MS,
    bodyBytesMax: ANSWER_BYTES_MAX,
  });
  if (!posted.ok) return { kind: 'unknown', reason: posted.reason };
  return outcomeOf({ status: posted.status, body: posted.body, retryAfterMs: null });
}

const apnsQuestion = (
  credential: ApnsCredential,
  authorization: string,
  origins: ProviderOrigins,
): Question => ({
  origin: apnsOriginOf(credential, origins),
  ca: trustedAt(apnsOriginOf(credential, origins), origins),
  path: `/3/device/${NO_DEVICE}`,
  fields: {
    authorization,
    'apns-topic': credential.bundleId,
    'apns-push-type': 'background',
    'apns-priority': '5',
    'apns-expiration': '0',
  },
  body: '{"aps":{"content-available":1}}',
});

const fcmQuestion = (
  { serviceAccount }: Pick<FcmCredential, 'serviceAccount'>,
  authorization: string,
  origins: ProviderOrigins,
): Question => ({
  origin: origins.fcm,
  ca: trustedAt(origins.fcm, origins),
  path: `/v1/projects/${serviceAccount.project_id}/messages:send`,
  fields: { authorization, 'content-type': 'application/json' },
  body: JSON.stringify({
    validate_only: true,
    message: { [targetFieldOf(NO_REGISTRATION, origins.fcmTarget)]: NO_REGISTRATION },
  }),
});
