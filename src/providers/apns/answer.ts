/** The outcome of an answer of APNs: by Apple's reason, if documented, else by the status. */

import { foreignText } from '../../../packages/std/src/foreign-text.ts';
import { parseObject } from '../../../packages/std/src/json.ts';
import type { Outcome } from '../../domain/outcome.ts';
import { DELIVERED } from '../../domain/outcome.ts';
import type { Answer } from '../../transport/transport.ts';
import { wordless } from '../wordless.ts';
import { PROVIDER_TOKEN_UPDATES_PAUSE_MS } from './settings.ts';

export function apnsOutcome(answer: Answer): Outcome {
  if (answer.status === 200) return DELIVERED;
  const body = parseBody(answer.body);
  return body === null
    ? outcomeWithoutWords(answer)
    : outcomeOfReason(answer, body.reason, body.timestampMs);
}

/** The body that APNs itself wrote. */
interface ApnsBody {
  readonly reason: string;
  readonly timestampMs: number | null;
}

/**
 * Stored, and a key for counts.
 * @limit characters of a provider's reason that are kept → cut
 */
const REASON_LENGTH_MAX = 100;

function parseBody(body: string): ApnsBody | null {
  const { reason, timestamp } = parseObject(body) ?? {};
  if (typeof reason !== 'string') return null;
  return {
    reason: foreignText(reason, REASON_LENGTH_MAX),
    timestampMs: typeof timestamp === 'number' && timestamp > 0 ? timestamp : null,
  };
}

function outcomeOfReason(answer: Answer, reason: string, timestampMs: number | null): Outcome {
  switch (reason) {
    case 'Unregistered':
    case 'ExpiredToken':
      // Without the time of its death nothing proves that the token was not registered again since.
      return timestampMs === null
        ? { kind: 'bad-token', reason }
        : { kind: 'gone', reason, sinceMs: timestampMs };
    case 'BadDeviceToken':
    case 'DeviceTokenNotForTopic':
      return { kind: 'bad-token', reason };
    case 'BadCollapseId':
    case 'BadExpirationDate':
    case 'BadMessageId':
    case 'BadPriority':
    case 'InvalidPushType':
    case 'MissingPushType':
    case 'BadRequestParams':
    case 'BadRequestPayload':
    case 'DuplicateHeaders':
    case 'PayloadEmpty':
    case 'PayloadTooLarge':
    case 'MethodNotAllowed':
      return { kind: 'bad-message', reason };
    // The path ends with the token.
    case 'MissingDeviceToken':
    case 'BadPath':
      return { kind: 'bad-message', reason, mayBeDevice: true };
    // The topic is the credential's bundle id: wrong for one push, wrong for all.
    case 'BadTopic':
    case 'MissingTopic':
    case 'TopicDisallowed':
    case 'TopicMismatch':
    case 'InvalidProviderToken':
    case 'MissingProviderToken':
    case 'Forbidden':
    case 'BadCertificate':
    case 'BadCertificateEnvironment':
    case 'UnrelatedKeyIdInToken':
    case 'BadEnvironmentKeyIdInToken':
    case 'BadEnvironmentKeyInToken':
      return { kind: 'bad-credential', reason };
    case 'ExpiredProviderToken':
      return { kind: 'expired-authorization', reason };
    case 'TooManyProviderTokenUpdates':
      return { kind: 'throttled-target', reason, retryAfterMs: PROVIDER_TOKEN_UPDATES_PAUSE_MS };
    case 'TooManyRequests':
      return { kind: 'throttled-device', reason, retryAfterMs: answer.retryAfterMs };
    // These concern the connection: the same push can be sent on another one.
    case 'IdleTimeout':
    case 'Shutdown':
      return { kind: 'refused', reason };
    case 'InternalServerError':
    case 'ServiceUnavailable':
    // Apple's spelling for broadcasts.
    case 'Service Unavailable':
      return { kind: 'unavailable', reason, retryAfterMs: answer.retryAfterMs };
    default:
      return outcomeOfStatus(answer, reason);
  }
}

/** APNs gives a reason with every refusal: a proxy's page proves nothing. */
function outcomeWithoutWords(answer: Answer): Outcome {
  const { status } = answer;
  const isRefusal = status === 401 || status === 403 || status === 404;
  return isRefusal ? wordless(answer) : outcomeOfStatus(answer, `status ${status}`);
}

const outcomeOfStatus = (answer: Answer, reason: string): Outcome => ({
  ...byClass(answer, reason),
  unfamiliarStatus: answer.status,
});

/** Apple may add reasons at any time: the class of the status decides which reaction is safe. */
function byClass({ status, retryAfterMs }: Answer, reason: string): Outcome {
  if (status === 401 || status === 403) return { kind: 'bad-credential', reason };
  // Not `gone`: only Apple's own reason with its time removes a device.
  if (status === 410) return { kind: 'bad-token', reason };
  if (status === 429) return { kind: 'throttled-target', reason, retryAfterMs };
  if (status >= 400 && status < 500) return { kind: 'bad-message', reason, mayBeDevice: true };
  return { kind: 'unavailable', reason, retryAfterMs };
}
