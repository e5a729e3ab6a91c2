/** Checks whether the engine of this configuration answers, and what it says of its stores. */

import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { errorReason } from '../../packages/std/src/error-reason.ts';
import { parseObject } from '../../packages/std/src/json.ts';
import type { Finding } from './finding.ts';
import { findingsAbout } from './finding.ts';

export interface EngineSettings {
  readonly HOST: string;
  readonly PORT: number;
  readonly TLS_CERT_FILE?: string | undefined;
  readonly TRUSTED_PROXIES: readonly string[];
}

/** @limit the answer of `/readyz` to `doctor` → a warning */
const ANSWER_MS_MAX = 5_000;
const ANY_ADDRESS = /^(0\.0\.0\.0|::|\[::\])$/;
const LOOPBACK = /^(127\.|::1$|localhost$)/;

export async function checkEngine(settings: EngineSettings): Promise<readonly Finding[]> {
  const { HOST, PORT, TLS_CERT_FILE } = settings;
  const proxies = checkProxies(settings);
  const { ok, warning, problem } = findingsAbout('engine');
  if (PORT === 0) return [warning('PORT is 0, a free port: it cannot be asked here.'), ...proxies];
  const host = ANY_ADDRESS.test(HOST) ? '127.0.0.1' : HOST;
  const scheme = TLS_CERT_FILE === undefined ? 'http' : 'https';
  const url = `${scheme}://${host.includes(':') ? `[${host}]` : host}:${PORT}/readyz`;
  try {
    const { status, body } = await ask(url);
    if (status === 200) return [ok(`it answers on ${url}, and is ready`), ...proxies];
    const stores = parseObject(body)?.['stores'];
    const told = stores === undefined ? '' : `: ${JSON.stringify(stores)}`;
    return [problem(`${url} answers ${status}, not ready${told}. Its log says why.`), ...proxies];
  } catch (error) {
    const why = errorReason(error);
    return [
      warning(`nothing answers on ${url} (${why}): start the engine, or look into its log.`),
      ...proxies,
    ];
  }
}

/** With an untrusted proxy all callers would share one address, and the limits of one. */
function checkProxies({
  HOST,
  TLS_CERT_FILE,
  TRUSTED_PROXIES,
}: EngineSettings): readonly Finding[] {
  const { ok, warning } = findingsAbout('proxies');
  if (TRUSTED_PROXIES.length > 0)
    return [ok(`X-Forwarded-For counts from ${TRUSTED_PROXIES.join(', ')}`)];
  if (LOOPBACK.test(HOST) && TLS_CERT_FILE === undefined) {
    return [
      ok(
        'only this machine reaches the engine; behind a proxy here, set TRUSTED_PROXIES to its address',
      ),
    ];
  }
  return TLS_CERT_FILE === undefined
    ? [
        warning(
          `HOST ${HOST} is reachable from elsewhere without TLS: put a proxy with TLS before it and name it in TRUSTED_PROXIES, or set TLS_CERT_FILE and TLS_KEY_FILE.`,
        ),
      ]
    : [];
}

/** Whose certificate it is, is not asked: the engine is on this machine. */
const ask = (url: string): Promise<{ readonly status: number; readonly body: string }> =>
  new Promise((resolve, reject) => {
    const request = url.startsWith('https:') ? requestHttps : requestHttp;
    const signal = AbortSignal.timeout(ANSWER_MS_MAX);
    const asked = request(url, { rejectUnauthorized: false, signal }, (answer) => {
      let body = '';
      answer.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body }));
      answer.on('error', reject);
    });
    asked.on('error', reject).end();
  });
