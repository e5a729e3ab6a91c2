/**
 * The outcome of an answer of a push service. Refusals of a key or a message may concern one
 * subscription only: they count for more only with a known reason.
 */

import { foreignText } from '../../../packages/std/src/foreign-text.ts';
import { parseObject } from '../../../packages/std/src/json.ts';
import type { Outcome } from '../../domain/outcome.ts';
import { DELIVERED } from '../../domain/outcome.ts';
import type { Answer } from '../../transport/transport.ts';
import { THROTTLED_CHANNEL_PAUSE_MS } from './settings.ts';

/** Microsoft's words stand in header fields; its body is empty. */
const DESCRIPTION = 'x-wns-error-description';
const STATE = 'x-wns-status';
export const ANSWER_FIELDS: readonly string[] = [DESCRIPTION, STATE];

export function webPushOutcome(answer: Answer): Outcome {
  const { status, retryAfterMs } = answer;
  const words = parseWords(answer);
  // RFC 8030, 5: 201; 5.1: 202 for receipts, which we do not ask for.
  if (status >= 200 && status < 300) return outcomeOfTaken(answer, words);
  const reason = words.reason ?? words.errno ?? words.description ?? `status ${status}`;
  // The subscription has ended (RFC 8030, 7.3; Microsoft says 410 alone).
  if (status === 404 || status === 410) return { kind: 'gone', reason, sinceMs: null };
  if (status === 429) return { kind: 'throttled-target', reason, retryAfterMs };
  if (status === 406) {
    return {
      kind: 'throttled-device',
      reason,
      retryAfterMs: retryAfterMs ?? THROTTLED_CHANNEL_PAUSE_MS,
    };
  }
  // Mozilla's bridges to phones take smaller messages: the next browser may take this one.
  if (status === 413) return { kind: 'bad-token', reason, isInconclusive: true };
  if (status < 400 || status >= 500) return { kind: 'unavailable', reason, retryAfterMs };
  return outcomeOfFault(answer, words, reason);
}

interface Words {
  readonly reason: string | null;
  /** Mozilla's number, as `errno` and the number. */
  readonly errno: string | null;
  /** Microsoft's description of an error. */
  readonly description: string | null;
  /** Microsoft's state of the message: `received`, `dropped`, `channelthrottled`. */
  readonly state: string | null;
  /** All that it says, in small letters. */
  readonly text: string;
}

/**
 * Stored, and a key for counts.
 * @limit characters of a provider's reason that are kept → cut
 */
const REASON_LENGTH_MAX = 100;

function parseWords({ body, fields = {} }: Answer): Words {
  const { reason, errno } = parseObject(body) ?? {};
  const { [DESCRIPTION]: description, [STATE]: state } = fields;
  return {
    reason: typeof reason === 'string' ? foreignText(reason, REASON_LENGTH_MAX) : null,
    errno: typeof errno === 'number' ? `errno ${errno}` : null,
    description: description === undefined ? null : foreignText(description, REASON_LENGTH_MAX),
    state: state?.toLowerCase() ?? null,
    text: `${body} ${description ?? ''}`.trim().toLowerCase(),
  };
}

/** The outcome of a 2xx: Microsoft's service says in a field what it did with the message. */
function outcomeOfTaken({ retryAfterMs }: Answer, { state, description }: Words): Outcome {
  switch (state) {
    case 'dropped':
      // Not kept for a browser that is away, for one.
      return { kind: 'bad-token', reason: description ?? 'dropped', isInconclusive: true };
    case 'channelthrottled':
      return {
        kind: 'throttled-device',
        reason: description ?? 'channelthrottled',
        retryAfterMs: retryAfterMs ?? THROTTLED_CHANNEL_PAUSE_MS,
      };
    default:
      return DELIVERED;
  }
}

function outcomeOfFault({ status }: Answer, { text, errno }: Words, reason: string): Outcome {
  switch (reason) {
    // Apple: subscribed with another key.
    case 'VapidPkHashMismatch':
    // Mozilla: the subscription is of a kind that cannot be sent to.
    case 'errno 108':
      return { kind: 'bad-token', reason };
    case 'BadJwtToken':
    case 'BadVapidPublicKey':
      return { kind: 'bad-credential', reason };
    case 'BadTtl':
    case 'BadUrgency':
    case 'BadWebPushTopic':
    // Mozilla: keys of the encryption, a missing field, TTL, Topic.
    case 'errno 101':
    case 'errno 110':
    case 'errno 111':
    case 'errno 112':
    case 'errno 113':
      return { kind: 'bad-message', reason };
    default:
      break;
  }
  if (status === 401 || status === 403) {
    // Google's 403 and Mozilla's errno 109 name another key only in their text.
    const isOtherKey = OTHER_KEY.test(text) || (status === 403 && errno === null && text === '');
    return { kind: isOtherKey ? 'bad-token' : 'bad-credential', reason };
  }
  // The service does not know this path or method: it would take no message.
  if (status === 405) return { kind: 'bad-message', reason };
  // It counts against the subscription only if it speaks of it.
  return ABOUT_SUBSCRIPTION.test(text)
    ? { kind: 'bad-token', reason, unfamiliarStatus: status }
    : { kind: 'bad-token', reason, isInconclusive: true, unfamiliarStatus: status };
}

const ABOUT_SUBSCRIPTION = /subscri|endpoint|channel/;

const OTHER_KEY = /mismatch|not correspond|used to (?:create|subscribe)/;
