/** `password`: changes one's own, or sets it by a one-time link. */

import type { ConsoleRoute, HttpRequest, HttpResponse } from '../../http/handler.ts';
import { CONSOLE_BODY_BYTES_MAX } from '../../http/handler.ts';
import { invalid, readJsonBody } from '../../http/json-body.ts';
import { changePassword, resetPassword } from '../accounts/sign-in.ts';
import { unheard } from './answers.ts';
import { passwordForm, resetForm } from './forms.ts';
import type { SessionParts } from './session.ts';
import { answerSignedIn } from './session.ts';
import { refuseGuesser } from './wrong-credentials.ts';

/** `POST password`, `POST password/reset`. */
export const passwordRoutes = (parts: SessionParts): readonly ConsoleRoute[] => [
  {
    api: 'console',
    needs: 'account',
    operation: 'changePassword',
    method: 'POST',
    path: '/console/api/password',
    bodyBytesMax: CONSOLE_BODY_BYTES_MAX,
    handle: (request, { email }) => change(parts, request, email),
  },
  {
    api: 'console',
    needs: 'nobody',
    operation: 'resetPassword',
    method: 'POST',
    path: '/console/api/password/reset',
    bodyBytesMax: CONSOLE_BODY_BYTES_MAX,
    handle: (request) => reset(parts, request),
  },
];

/** A wrong current password is no 401: the session goes on. */
async function change(
  parts: SessionParts,
  request: HttpRequest,
  email: string,
): Promise<HttpResponse> {
  const read = readJsonBody(request, passwordForm);
  if (!read.ok) return read.response;
  const changed = await changePassword(parts, email, read.value, request);
  return changed.kind === 'wrong'
    ? invalid(request, [
        { path: 'currentPassword', message: 'is not the password of this account' },
      ])
    : answerSignedIn(parts, request, changed, '');
}

async function reset(parts: SessionParts, request: HttpRequest): Promise<HttpResponse> {
  const read = readJsonBody(request, resetForm);
  if (!read.ok) return read.response;
  const done = await resetPassword(parts, read.value, request);
  switch (done.kind) {
    case 'done':
      return { status: 204, body: '' };
    case 'no-link':
      return (
        refuseGuesser(parts.failures, request, 'link') ??
        invalid(request, [
          {
            path: 'token',
            message: 'does not exist, was used, or has ended: ask for another link',
          },
        ])
      );
    case 'busy':
      return unheard(request, done);
  }
}
