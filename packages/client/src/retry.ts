/** When a request that was refused for the moment is sent again. */

/** Refused before anything was done, with a request to come back. */
const TOO_MANY = 429;
/** A request to come back, too; but a connection that broke may have hidden that it was done. */
const UNAVAILABLE = 503;
/** Where a proxy does not say when. */
const PAUSE_MS = 1_000;
/** Callers that were refused together come back apart. */
const JITTER_SHARE = 0.25;

export interface RetryLimits {
  /** Times that a request is sent, the first one included. */
  readonly attemptsMax: number;
  /** All pauses of a request together: a longer one is the caller's to wait for. */
  readonly pauseMsMax: number;
}

export const RETRY_LIMITS: RetryLimits = { attemptsMax: 4, pauseMsMax: 30_000 };

/** A request so far. */
export interface Attempts {
  readonly attempts: number;
  readonly pausedMs: number;
  /** Done twice, it is as if it were done once (RFC 9110, section 9.2.2). */
  readonly isIdempotent: boolean;
}

/** How long to pause before the next attempt; null: there is none. */
export function pauseMsBefore(
  response: Pick<Response, 'status' | 'headers'>,
  { attempts, pausedMs, isIdempotent }: Attempts,
  { attemptsMax, pauseMsMax }: RetryLimits,
  nowMs = Date.now(),
): number | null {
  const { status } = response;
  const isRetried = status === TOO_MANY || (status === UNAVAILABLE && isIdempotent);
  if (!isRetried || attempts >= attemptsMax) return null;
  const askedMs = retryAfterMs(response.headers.get('retry-after'), nowMs);
  const pauseMs = askedMs * (1 + Math.random() * JITTER_SHARE);
  return pausedMs + askedMs > pauseMsMax ? null : pauseMs;
}

/** Seconds, or a date (RFC 9110, section 10.2.3). */
function retryAfterMs(value: string | null, nowMs: number): number {
  if (value === null) return PAUSE_MS;
  const seconds = Number(value);
  const ms = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(value) - nowMs;
  return Number.isFinite(ms) ? Math.max(ms, 0) : PAUSE_MS;
}

/** Waits, or rejects when the signal says so. */
export const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
