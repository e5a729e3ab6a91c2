/** The outcome of an answer of FCM: by its own error code, Google's status, or the HTTP status. */

import { foreignText } from '../../../packages/std/src/foreign-text.ts';
import type { JsonObject } from '../../../packages/std/src/json.ts';
import { isObject, parseJson } from '../../../packages/std/src/json.ts';
import type { Outcome } from '../../domain/outcome.ts';
import { DELIVERED } from '../../domain/outcome.ts';
import type { Answer } from '../../transport/transport.ts';
import { wordless } from '../wordless.ts';
import { BAD_GATEWAY_PAUSE_MS, QUOTA_PAUSE_MS } from './settings.ts';

export function fcmOutcome(answer: Answer): Outcome {
  if (answer.status === 200) return DELIVERED;
  const error = parseError(answer.body);
  return error === null ? outcomeWithoutWords(answer) : outcomeOfError(answer, error);
}

/** `{error:{code, message, status, details}}`. */
interface FcmError {
  readonly message: string;
  readonly status: string | undefined;
  readonly details: readonly ErrorDetail[];
}

interface ErrorDetail {
  readonly type: string;
  readonly errorCode: string | undefined;
  readonly fields: readonly string[];
  /** The texts about the quotas that were passed. */
  readonly quotas: readonly string[];
}

/** Reads it leniently, without a form: worker threads would load a library for this one. */
function parseError(body: string): FcmError | null {
  const error = asRecord(asRecord(parseJson(body))?.['error']);
  if (error === null) return null;
  return {
    message: asText(error['message']) ?? '',
    status: asText(error['status']),
    details: asRecords(error['details']).map((detail) => ({
      type: asText(detail['@type']) ?? '',
      errorCode: asText(detail['errorCode']),
      fields: asRecords(detail['fieldViolations']).map(({ field }) => asText(field) ?? ''),
      quotas: asRecords(detail['violations']).map(
        ({ subject, description }) => `${asText(subject) ?? ''} ${asText(description) ?? ''}`,
      ),
    })),
  };
}

const asRecord = (value: unknown): JsonObject | null => (isObject(value) ? value : null);

const asText = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** All objects of a list; none, if it is no list or has anything else in it. */
const asRecords = (value: unknown): readonly JsonObject[] =>
  Array.isArray(value) && value.every(isObject) ? value : [];

/**
 * Stored, and a key for counts.
 * @limit characters of a provider's reason that are kept → cut
 */
const REASON_LENGTH_MAX = 100;
const FCM_ERROR = 'google.firebase.fcm.v1.FcmError';

function outcomeOfError(answer: Answer, error: FcmError): Outcome {
  const { status, retryAfterMs } = answer;
  const own = error.details.find(({ type }) => type.endsWith(FCM_ERROR))?.errorCode;
  const reason = foreignText(own ?? error.status ?? `status ${status}`, REASON_LENGTH_MAX);
  switch (reason) {
    case 'UNREGISTERED':
      // Only FCM's own code in a 404 removes a device: a wrong project or path causes a 404 too.
      return own === 'UNREGISTERED' && status === 404
        ? { kind: 'gone', reason, sinceMs: null }
        : outcomeOfStatus(answer, reason);
    case 'INVALID_ARGUMENT':
      if (blamesToken(error)) return { kind: 'bad-token', reason };
      return blamesField(error)
        ? { kind: 'bad-message', reason }
        : { kind: 'bad-message', reason, mayBeDevice: true };
    case 'SENDER_ID_MISMATCH':
      return { kind: 'bad-token', reason };
    case 'UNAUTHENTICATED':
      return { kind: 'expired-authorization', reason };
    // The project's APNs or Web Push key is wrong: other devices still get their pushes.
    case 'THIRD_PARTY_AUTH_ERROR':
      return { kind: 'bad-message', reason, mayBeDevice: true };
    case 'PERMISSION_DENIED':
      if (SENDER_IN_WORDS.test(error.message)) {
        return { kind: 'bad-token', reason: 'SENDER_ID_MISMATCH' };
      }
      return { kind: 'bad-credential', reason };
    // Without FCM's own code: the project or the path is wrong, for every device.
    case 'NOT_FOUND':
      return { kind: 'bad-credential', reason };
    case 'QUOTA_EXCEEDED':
    case 'RESOURCE_EXHAUSTED':
      return {
        kind: blamesDeviceRate(error) ? 'throttled-device' : 'throttled-target',
        reason,
        retryAfterMs: retryAfterMs ?? QUOTA_PAUSE_MS,
      };
    case 'INTERNAL':
    case 'UNAVAILABLE':
    case 'UNSPECIFIED_ERROR':
      return { kind: 'unavailable', reason, retryAfterMs };
    default:
      return outcomeOfStatus(answer, reason);
  }
}

/** FCM's sentence for a token of another project, which some answers have without its code. */
const SENDER_IN_WORDS = /sender ?id mismatch/i;
const TOKEN_IN_WORDS = /registration token/i;
const DEVICE_IN_WORDS = /device/i;

/** Malformed tokens and messages have one code: the field or the text distinguishes them. */
const blamesToken = ({ message, details }: FcmError): boolean =>
  TOKEN_IN_WORDS.test(message) ||
  details.some(({ fields }) =>
    fields.some((field) => field === 'message.token' || field === 'message.fid'),
  );

const blamesField = ({ details }: FcmError): boolean =>
  details.some(({ fields }) => fields.some((field) => field !== ''));

/** The limits of project and device have the same code; the quota's name distinguishes them. */
const blamesDeviceRate = ({ details }: FcmError): boolean =>
  details.some(({ quotas }) => quotas.some((text) => DEVICE_IN_WORDS.test(text)));

/** Google gives its own error with every refusal: a proxy's page proves nothing. */
function outcomeWithoutWords(answer: Answer): Outcome {
  const { status } = answer;
  const isRefusal = status === 403 || status === 404;
  return isRefusal ? wordless(answer) : outcomeOfStatus(answer, `status ${status}`);
}

function outcomeOfStatus(answer: Answer, reason: string): Outcome {
  const { status, retryAfterMs } = answer;
  // An HTML page that asks for half a minute: seen too often to be logged as unfamiliar.
  if (status === 502) {
    return { kind: 'unavailable', reason, retryAfterMs: retryAfterMs ?? BAD_GATEWAY_PAUSE_MS };
  }
  return { ...byClass(answer, reason), unfamiliarStatus: status };
}

/** Google may add codes at any time: the class of the status decides which reaction is safe. */
function byClass({ status, retryAfterMs }: Answer, reason: string): Outcome {
  if (status === 401) return { kind: 'expired-authorization', reason };
  // 404 without FCM's own code: the project or the path is wrong, for every device.
  if (status === 403 || status === 404) return { kind: 'bad-credential', reason };
  if (status === 429) {
    return { kind: 'throttled-target', reason, retryAfterMs: retryAfterMs ?? QUOTA_PAUSE_MS };
  }
  if (status >= 400 && status < 500) return { kind: 'bad-message', reason, mayBeDevice: true };
  return { kind: 'unavailable', reason, retryAfterMs };
}
