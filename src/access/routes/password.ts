/** `password`: changes one's own, or sets it by a one-time link. */

import { noContent, shown } from '../../http/answers.ts';
import { form } from '../../http/form-body.ts';
import type { Route } from '../../http/handler.ts';
import { done, refuse } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import { strictForm } from '../../std/strict-form.ts';
import { changePassword, resetPassword } from '../accounts/sign-in.ts';
import { anyPassword, newPassword, token } from './forms.ts';
import { refuseGuesser, refuseUnheard } from './refusals.ts';
import type { SessionParts } from './session.ts';
import { COOKIE, SESSION, session, sessionBegun } from './session.ts';

const PATH = '/console/api/password';

export const passwordRoutes = (parts: SessionParts): readonly Route[] => [
  changeRoute(parts),
  resetRoute(parts),
];

/** A wrong current password is no 401: the session goes on. */
const WRONG_PASSWORD = refuse.invalid([
  { path: 'currentPassword', message: 'is not the password of this account' },
]);
const NO_LINK = refuse.invalid([
  { path: 'token', message: 'does not exist, was used, or has ended: ask for another link' },
]);

const changeRoute = (parts: SessionParts) =>
  routesAt(PATH, { api: 'console', needs: 'account' }).post(
    'changePassword',
    {
      summary: 'Change the password',
      description: 'Ends every session of the account, and begins a new one.',
      problems: [400, 429],
      body: form(strictForm({ currentPassword: anyPassword, newPassword }), {
        currentPassword: 'correct horse battery',
        newPassword: 'incorrect horse battery',
      }),
      answer: shown('Changed.', session, SESSION, COOKIE),
    },
    async ({ caller: { email }, request, body }) => {
      const changed = await changePassword(parts, email, body, request);
      return sessionBegun(parts, request, changed, WRONG_PASSWORD);
    },
  );

const resetRoute = (parts: SessionParts) =>
  routesAt(PATH, { api: 'console', needs: 'nobody' }).post(
    'resetPassword',
    {
      at: 'reset',
      summary: 'Set the password by a one-time link',
      description: 'Ends every session of the account.',
      problems: [400, 429],
      body: form(strictForm({ token, newPassword }), {
        token: 'tcl_…',
        newPassword: 'correct horse battery',
      }),
      answer: noContent('Set.'),
    },
    async ({ request, body }) => {
      const ended = await resetPassword(parts, body, request);
      switch (ended.kind) {
        case 'done':
          return done(null);
        case 'no-link':
          return refuseGuesser(parts.failures, request, 'link') ?? NO_LINK;
        case 'busy':
          return refuseUnheard(ended);
      }
    },
  );
