/** `session`: signs in and out, and tells who has signed in. */

import { transact } from '../../database/transact.ts';
import type { Session } from '../../domain/session.ts';
import type { ConsoleRoute, HttpRequest, HttpResponse } from '../../http/handler.ts';
import { json, readJsonBody } from '../../http/json-body.ts';
import { problem } from '../../http/problem.ts';
import { sessionCookie, sessionTokenIn } from '../../http/session-cookie.ts';
import { readEmail } from '../accounts/email.ts';
import type { Sessions } from '../accounts/sessions.ts';
import type { AccountParts, SignedIn } from '../accounts/sign-in.ts';
import { signIn, signInByLink } from '../accounts/sign-in.ts';
import type { Failures } from '../failures.ts';
import { deleteSession, deleteSessionsOf } from '../sql/sessions.ts';
import { unheard } from './answers.ts';
import { sessionForm } from './forms.ts';
import { refuseGuesser } from './wrong-credentials.ts';

export interface SessionParts extends AccountParts {
  readonly sessions: Pick<Sessions, 'authenticate'>;
  /** Who presents links that do not exist is counted with who presents wrong credentials. */
  readonly failures: Failures;
}

/**
 * Of the console's own API; they have little to say.
 * @limit body of a request of the console's own API → `413`
 */
export const CONSOLE_BODY_BYTES_MAX = 16_384;

const PATH = '/console/api/session';

/** `GET`, `POST`, `DELETE`, and `POST …/end-all`. */
export const sessionRoutes = (parts: SessionParts): readonly ConsoleRoute[] => [
  {
    api: 'console',
    needs: 'cookie',
    operation: 'getSession',
    method: 'GET',
    path: PATH,
    bodyBytesMax: 0,
    handle: (_request, session) => showSession(session),
  },
  {
    api: 'console',
    needs: 'nobody',
    operation: 'signIn',
    method: 'POST',
    path: PATH,
    bodyBytesMax: CONSOLE_BODY_BYTES_MAX,
    handle: (request) => begin(parts, request),
  },
  {
    api: 'console',
    needs: 'account',
    operation: 'signOut',
    method: 'DELETE',
    path: PATH,
    bodyBytesMax: 0,
    handle: async (request, { tokenHash }) => {
      await transact(parts.sql, (tx) => deleteSession(tx, [tokenHash]));
      return signedOut(request);
    },
  },
  {
    api: 'console',
    needs: 'account',
    operation: 'signOutEverywhere',
    method: 'POST',
    path: `${PATH}/end-all`,
    bodyBytesMax: CONSOLE_BODY_BYTES_MAX,
    handle: async (request, { accountId }) => {
      await transact(parts.sql, (tx) => deleteSessionsOf(tx, accountId));
      return signedOut(request);
    },
  },
];

async function begin(parts: SessionParts, request: HttpRequest): Promise<HttpResponse> {
  const read = readJsonBody(request, sessionForm);
  if (!read.ok) return read.response;
  const { email = '', password = '', link } = read.value;
  const replaced = sessionTokenIn(request.header('cookie'), request.isSecure);
  if (link === undefined) {
    const signedIn = await signIn(parts, readEmail(email) ?? '', password, request, replaced);
    const wrong = 'No account has this e-mail address and password.';
    return answerSignedIn(parts, request, signedIn, wrong);
  }
  const signedIn = await signInByLink(parts, link, request, replaced);
  const refusal = signedIn.kind === 'wrong' ? refuseGuesser(parts.failures, request, 'link') : null;
  const wrong = 'This link does not exist, was used, or has ended.';
  return refusal ?? answerSignedIn(parts, request, signedIn, wrong);
}

/** The session that has begun, with its cookie; or why none has. */
export async function answerSignedIn(
  { sessions }: Pick<SessionParts, 'sessions'>,
  request: HttpRequest,
  signedIn: SignedIn,
  wrong: string,
): Promise<HttpResponse> {
  switch (signedIn.kind) {
    case 'wrong':
      return refuse(request, wrong);
    case 'wait':
    case 'busy':
      return unheard(request, signedIn);
    case 'signed-in': {
      const session = await sessions.authenticate(signedIn.token);
      if (session === 'ended') return refuse(request, 'This session was ended from elsewhere.');
      const answer = showSession(session);
      const cookie = sessionCookie(signedIn.token, request.isSecure);
      return { ...answer, headers: { ...answer.headers, 'Set-Cookie': cookie } };
    }
  }
}

const refuse = ({ requestId }: HttpRequest, why: string): HttpResponse =>
  problem(requestId, 401, why, { headers: { 'WWW-Authenticate': 'Session realm="tagcast"' } });

function showSession({ accountId, email, isOperator, ...session }: Session): HttpResponse {
  return json({
    csrfToken: session.csrfToken,
    account: { id: accountId, email, isOperator },
    clients: session.memberships
      .filter(({ isDisabled }) => !isDisabled)
      .map(({ clientSlug, clientName, role }) => ({
        clientId: clientSlug,
        name: clientName,
        role,
      })),
    endsAt: session.endsAtMs,
  });
}

const signedOut = ({ isSecure }: HttpRequest): HttpResponse => ({
  status: 204,
  headers: { 'Set-Cookie': sessionCookie(null, isSecure) },
  body: '',
});
