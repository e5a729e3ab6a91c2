/** `session`: signs in and out, and shows who has signed in. */

import { z } from 'zod';
import { transact } from '../../database/transact.ts';
import { MEMBER_ROLES } from '../../domain/caller.ts';
import type { Session } from '../../domain/session.ts';
import { noContent, shown } from '../../http/answers.ts';
import { form } from '../../http/form-body.ts';
import type { HttpRequest, Route } from '../../http/handler.ts';
import { epochMs, id, word } from '../../http/openapi/parts.ts';
import type { Refusal, Result } from '../../http/result.ts';
import { done, refused } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import { sessionCookie, sessionTokenIn } from '../../http/session-cookie.ts';
import { strictForm } from '../../std/strict-form.ts';
import { readEmail } from '../accounts/email.ts';
import type { Sessions } from '../accounts/sessions.ts';
import type { AccountParts, SignedIn } from '../accounts/sign-in.ts';
import { signIn, signInByLink } from '../accounts/sign-in.ts';
import type { Failures } from '../failures.ts';
import { deleteSession, deleteSessionsOf } from '../sql/sessions.ts';
import { anyPassword, email, token } from './forms.ts';
import { refuseGuesser, refuseUnheard } from './refusals.ts';

export interface SessionParts extends AccountParts {
  readonly sessions: Pick<Sessions, 'authenticate'>;
  /** Who presents links that do not exist is counted with who presents wrong credentials. */
  readonly failures: Failures;
}

const sessionForm = strictForm({
  email: email.optional(),
  password: anyPassword.optional(),
  link: token.optional(),
}).refine(
  ({ email, password, link }) =>
    link === undefined
      ? email !== undefined && password !== undefined
      : email === undefined && password === undefined,
  'must have email and password, or link',
);

export const session = z
  .object({
    csrfToken: z.string().meta({
      description: 'For the header `X-CSRF-Token` of every other request with this session.',
    }),
    account: z.object({ id, email: z.string(), isOperator: z.boolean() }),
    clients: z.array(
      z.object({ clientId: z.string(), name: z.string(), role: word(MEMBER_ROLES) }),
    ),
    endsAt: epochMs.meta({ description: 'However much it is used.' }),
  })
  .meta({
    id: 'Session',
    description: 'Someone who has signed in, and the clients he belongs to.',
  });
export const SESSION = {
  csrfToken: 'kT0w…',
  account: { id: 1, email: 'ann@example.com', isOperator: false },
  clients: [{ clientId: 'demo', name: 'Demo', role: 'owner' }],
  endsAt: 1_795_392_000_000,
} as const;
export const COOKIE = { 'Set-Cookie': 'The cookie of the session.' };
const ended = { ...noContent('Ended.'), headers: COOKIE };

const PATH = '/console/api/session';
const ofAccount = routesAt(PATH, { api: 'console', needs: 'account' });

export const sessionRoutes = (parts: SessionParts): readonly Route[] => [
  getRoute,
  signInRoute(parts),
  signOutRoute(parts),
  signOutEverywhereRoute(parts),
];

const getRoute = routesAt(PATH, { api: 'console', needs: 'cookie' }).get(
  'getSession',
  {
    summary: 'Tell who has signed in',
    description: 'Needs no `X-CSRF-Token`: it gives it.',
    answer: shown('The session.', session, SESSION),
  },
  ({ caller }) => done(sessionShown(caller)),
);

const signInRoute = (parts: SessionParts) =>
  routesAt(PATH, { api: 'console', needs: 'nobody' }).post(
    'signIn',
    {
      summary: 'Sign in',
      description:
        'With e-mail and password, or the `link` that a demo engine prints at its start. The session of the cookie that the request carries ends. `401` for a wrong password and an unknown address alike. Ten attempts in 15 minutes for one account from one network, 60 over all accounts: then `429` with `Retry-After`, for the right password, too. Attempts from other networks change nothing.',
      problems: [400, 401, 429],
      body: form(sessionForm, { email: 'ann@example.com', password: 'correct horse battery' }),
      answer: shown('The session has begun.', session, SESSION, COOKIE),
    },
    async ({ request, body: { email = '', password = '', link } }) => {
      const replaced = sessionTokenIn(request.header('cookie'), request.isSecure);
      if (link === undefined) {
        const address = readEmail(email) ?? '';
        const signedIn = await signIn(parts, address, password, request, replaced);
        return sessionBegun(parts, request, signedIn, WRONG_PASSWORD);
      }
      const signedIn = await signInByLink(parts, link, request, replaced);
      const guesser =
        signedIn.kind === 'wrong' ? refuseGuesser(parts.failures, request, 'link') : null;
      return guesser ?? sessionBegun(parts, request, signedIn, WRONG_LINK);
    },
  );

const signOutRoute = ({ sql }: SessionParts) =>
  ofAccount.delete(
    'signOut',
    { summary: 'End this session', answer: ended },
    async ({ caller: { tokenHash }, request }) => {
      await transact(sql, (tx) => deleteSession(tx, [tokenHash]));
      return signedOut(request);
    },
  );

const signOutEverywhereRoute = ({ sql }: SessionParts) =>
  ofAccount.post(
    'signOutEverywhere',
    {
      at: 'end-all',
      summary: 'End every session of the account, this one too',
      answer: ended,
    },
    async ({ caller: { accountId }, request }) => {
      await transact(sql, (tx) => deleteSessionsOf(tx, accountId));
      return signedOut(request);
    },
  );

const unauthorized = (why: string): Refusal =>
  refused(401, why, { headers: { 'WWW-Authenticate': 'Session realm="tagcast"' } });
const WRONG_PASSWORD = unauthorized('No account has this e-mail address and password.');
const WRONG_LINK = unauthorized('This link does not exist, was used, or has ended.');
const ENDED_ELSEWHERE = unauthorized('This session was ended from elsewhere.');

/** The session that has begun, with its cookie; or why none has. */
export async function sessionBegun(
  { sessions }: Pick<SessionParts, 'sessions'>,
  request: HttpRequest,
  signedIn: SignedIn,
  wrong: Refusal,
): Promise<Result<ReturnType<typeof sessionShown>>> {
  switch (signedIn.kind) {
    case 'wrong':
      return wrong;
    case 'wait':
    case 'busy':
      return refuseUnheard(signedIn);
    case 'signed-in': {
      const begun = await sessions.authenticate(signedIn.token);
      if (begun === 'ended') return ENDED_ELSEWHERE;
      const cookie = sessionCookie(signedIn.token, request.isSecure);
      return done(sessionShown(begun), { headers: { 'Set-Cookie': cookie } });
    }
  }
}

const sessionShown = ({ accountId, email, isOperator, ...session }: Session) => ({
  csrfToken: session.csrfToken,
  account: { id: accountId, email, isOperator },
  clients: session.memberships
    .filter(({ isDisabled }) => !isDisabled)
    .map(({ clientSlug, clientName, role }) => ({ clientId: clientSlug, name: clientName, role })),
  endsAt: session.endsAtMs,
});

const signedOut = ({ isSecure }: HttpRequest): Result<null> =>
  done(null, { headers: { 'Set-Cookie': sessionCookie(null, isSecure) } });
