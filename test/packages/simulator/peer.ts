/**
 * The other side of the conversation: a plain `node:http2` client and tokens signed by jose, for
 * one test.
 */

import type { ClientHttp2Session, IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http2';
import { connect } from 'node:http2';
import { text } from 'node:stream/consumers';
import { importPKCS8, SignJWT } from 'jose';
import type { ProviderAccounts } from '../../../packages/simulator/src/accounts.ts';
import type { BehaviourChange } from '../../../packages/simulator/src/options.ts';
import type { Simulator } from '../../../packages/simulator/src/simulator.ts';
import { startSimulator } from '../../../packages/simulator/src/simulator.ts';

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Teardown {
  teardown(undo: () => Promise<void> | void): void;
}

export const FCM_SCOPE = 'https://www.googleapis.com/auth/firebase.messaging';

/** Hex of the form that APNs takes, another for each number. */
export function apnsToken(number: number): string {
  return number.toString(16).padStart(64, '0');
}

export async function simulate(t: Teardown, behaviour: BehaviourChange = {}): Promise<Simulator> {
  const simulator = await startSimulator({ behaviour });
  t.teardown(() => simulator.close());
  return simulator;
}

export function open(t: Teardown, simulator: Simulator, origin: string): ClientHttp2Session {
  const session = connect(origin, { ca: simulator.certificatePem });
  session.on('error', () => undefined);
  t.teardown(() => session.destroy());
  return session;
}

/** Sends one request and reads the whole answer; rejects when the stream breaks. */
export async function ask(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body: string | Buffer = '',
): Promise<Reply> {
  const stream = session.request({ ':method': 'POST', ...headers });
  const responded = new Promise<IncomingHttpHeaders>((resolve, reject) => {
    stream.once('response', resolve);
    stream.once('error', reject);
    stream.once('close', () => reject(new Error('The stream closed without an answer')));
  });
  stream.end(body);
  const [answer, answerBody] = await Promise.all([responded, text(stream)]);
  return { status: Number(answer[':status']), headers: answer, body: answerBody };
}

/** An APNs provider token; the parts given take the place of what is right. */
export async function providerToken(
  { apns }: ProviderAccounts,
  other: { teamId?: string; keyId?: string; issuedAt?: number } = {},
): Promise<string> {
  return await new SignJWT()
    .setProtectedHeader({ alg: 'ES256', kid: other.keyId ?? apns.keyId })
    .setIssuer(other.teamId ?? apns.teamId)
    .setIssuedAt(other.issuedAt ?? Math.floor(Date.now() / 1_000))
    .sign(await importPKCS8(apns.privateKey, 'ES256'));
}

export async function apnsHeaders(
  accounts: ProviderAccounts,
  token: string,
): Promise<OutgoingHttpHeaders> {
  return {
    ':path': `/3/device/${token}`,
    authorization: `bearer ${await providerToken(accounts)}`,
    'apns-topic': accounts.apns.bundleId,
    'apns-push-type': 'alert',
  };
}

/** A service account's assertion; claims given take the place of what is right. */
export async function assertion(
  { fcm }: ProviderAccounts,
  claims: Record<string, unknown> = {},
  privateKey = fcm.serviceAccount.private_key,
): Promise<string> {
  const now = Math.floor(Date.now() / 1_000);
  return await new SignJWT({
    iss: fcm.serviceAccount.client_email,
    aud: fcm.serviceAccount.token_uri,
    scope: FCM_SCOPE,
    iat: now,
    exp: now + 3_600,
    ...claims,
  })
    .setProtectedHeader({ alg: 'RS256', kid: fcm.serviceAccount.private_key_id })
    .sign(await importPKCS8(privateKey, 'RS256'));
}

export async function askForAccessToken(
  session: ClientHttp2Session,
  signed: string,
  grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer',
): Promise<Reply> {
  const form = new URLSearchParams({ grant_type: grantType, assertion: signed });
  return await ask(session, { ':path': '/token' }, form.toString());
}

/** The headers of a valid FCM request, with an access token that was just granted. */
export async function fcmHeaders(
  session: ClientHttp2Session,
  accounts: ProviderAccounts,
): Promise<OutgoingHttpHeaders> {
  const granted = await askForAccessToken(session, await assertion(accounts));
  const { access_token: accessToken } = JSON.parse(granted.body) as { access_token: string };
  return {
    ':path': `/v1/projects/${accounts.fcm.serviceAccount.project_id}/messages:send`,
    authorization: `Bearer ${accessToken}`,
    'content-type': 'application/json',
  };
}

/** One call of the control endpoint: status and JSON. */
export async function control<T = Record<string, unknown>>(
  simulator: Simulator,
  call: string,
  body?: unknown,
): Promise<{ readonly status: number; readonly json: T }> {
  const [method = '', path = ''] = call.split(' ');
  const response = await fetch(simulator.controlUrl + path, {
    method,
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status: response.status, json: (await response.json()) as T };
}
