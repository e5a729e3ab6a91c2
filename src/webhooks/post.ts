/**
 * Sends one request to a webhook, on a connection of its own to an address that was looked up and
 * checked for it: a name that changes its meaning gains nothing. No redirect is followed; of the
 * answer, only status and `Retry-After` are read.
 */

import { lookup, Resolver } from 'node:dns/promises';
import type { ClientRequest, RequestOptions } from 'node:http';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { isIP } from 'node:net';
import { errorReason } from '../../packages/std/src/error-reason.ts';
import { isPublicAddress } from '../std/public-address.ts';
import { hostOf } from './address.ts';

/**
 * From the look-up of the name to the answer: receivers answer first, and work then.
 * @limit answer of a webhook → a failure
 */
const ANSWER_MS_MAX = 10_000;
/** @limit head of the answer of a webhook → a failure */
const ANSWER_HEAD_BYTES_MAX = 16_384;
/** @limit each try to look up the name of a webhook → the next try */
const LOOK_UP_MS = 2_000;
/** @limit tries to look up the name of a webhook → a failure */
const LOOK_UP_TRIES = 2;

export type Posted =
  /** `retryAfter`: the header field; null: there is none. */
  | { readonly kind: 'answered'; readonly status: number; readonly retryAfter: string | null }
  /** `fault`: a sentence without a full stop. */
  | { readonly kind: 'failed'; readonly fault: string }
  /** The caller gave up: the receiver may have it or not. */
  | { readonly kind: 'aborted' };

/** All addresses of a name; rejects when there are none. */
type Resolve = (hostname: string) => Promise<readonly string[]>;

export interface PostOptions {
  /** Whether the address may be outside of the public internet. */
  readonly isPrivateAllowed: boolean;
  readonly resolve: Resolve;
  readonly signal: AbortSignal;
  /** Trusted in place of the system's certificates. */
  readonly ca?: string;
  readonly timeoutMs?: number;
}

/**
 * Not by the system's resolver, unless private addresses are allowed (hosts file): it takes one of
 * few shared threads, and a client may choose a name whose servers never answer.
 */
export const resolverFor = (isPrivateAllowed: boolean): Resolve =>
  isPrivateAllowed ? resolveBySystem : resolveByDns;

async function resolveBySystem(hostname: string): Promise<readonly string[]> {
  const found = await lookup(hostname, { all: true });
  return found.map(({ address }) => address);
}

async function resolveByDns(hostname: string): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: LOOK_UP_MS, tries: LOOK_UP_TRIES });
  const families = [resolver.resolve4(hostname), resolver.resolve6(hostname)];
  const found = await Promise.allSettled(families);
  const addresses = found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  if (addresses.length === 0) return await Promise.any(families);
  return addresses;
}

/** Never rejects. */
export async function post(
  url: URL,
  headers: Readonly<Record<string, string>>,
  body: string,
  options: PostOptions,
): Promise<Posted> {
  const { timeoutMs = ANSWER_MS_MAX } = options;
  const late = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([options.signal, late]);
  const posted = await Promise.race([
    postTo(url, headers, body, { ...options, signal }),
    aborted(signal),
  ]);
  if (!signal.aborted || posted.kind === 'answered') return posted;
  if (options.signal.aborted) return { kind: 'aborted' };
  return { kind: 'failed', fault: `no answer within ${timeoutMs / 1_000} s` };
}

const aborted = (signal: AbortSignal): Promise<Posted> =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve({ kind: 'aborted' }), { once: true });
  });

async function postTo(
  url: URL,
  headers: Readonly<Record<string, string>>,
  body: string,
  { resolve, isPrivateAllowed, signal, ca }: PostOptions,
): Promise<Posted> {
  const host = hostOf(url.hostname);
  let addresses: readonly string[];
  try {
    addresses = isIP(host) === 0 ? await resolve(host) : [host];
  } catch (error) {
    const fault = `${host} has no address (${reasonOf(error)})`;
    return { kind: 'failed', fault: isPrivateAllowed ? fault : nowhere(host) };
  }
  const admitted = isPrivateAllowed ? addresses : addresses.filter(isPublicAddress);
  if (admitted.length === 0) {
    return { kind: 'failed', fault: nowhere(host) };
  }
  if (signal.aborted) return { kind: 'aborted' };
  return await exchange(
    url,
    {
      method: 'POST',
      headers: { ...headers, 'Content-Length': Buffer.byteLength(body) },
      agent: false,
      lookup: lookUpIn(admitted),
      maxHeaderSize: ANSWER_HEAD_BYTES_MAX,
      signal,
      ...(ca === undefined ? {} : { ca }),
    },
    body,
  );
}

/** One sentence for all: which names the operator's own DNS knows concerns no client. */
const nowhere = (host: string): string =>
  `${host} has no address in the public internet, or could not be looked up`;

/** Answers what was looked up and checked: nothing else is connected to. */
const lookUpIn = (addresses: readonly string[]): LookupFunction => {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  const [first] = all;
  return (_hostname, { all: isAllAsked }, callback) => {
    if (isAllAsked) callback(null, [...all]);
    else callback(null, first?.address ?? '', first?.family ?? 0);
  };
};

const exchange = (
  url: URL,
  options: RequestOptions & { readonly ca?: string },
  body: string,
): Promise<Posted> =>
  new Promise((resolve) => {
    const fail = (fault: string): void => resolve({ kind: 'failed', fault });
    let request: ClientRequest;
    try {
      request = url.protocol === 'https:' ? requestHttps(url, options) : requestHttp(url, options);
    } catch (error) {
      fail(reasonOf(error));
      return;
    }
    request.on('response', ({ statusCode = 0, headers }) => {
      const retryAfter = headers['retry-after'] ?? null;
      resolve({ kind: 'answered', status: statusCode, retryAfter });
      request.destroy();
    });
    request.on('error', (error) => fail(`the request failed (${reasonOf(error)})`));
    request.on('close', () => fail('the connection was closed before an answer'));
    request.end(body);
  });

/** The first of several: a name has addresses of two families. */
function reasonOf(error: unknown): string {
  return errorReason(error instanceof AggregateError ? (error.errors[0] ?? error) : error);
}
