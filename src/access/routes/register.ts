/** `settings` and `register`: how somebody gets an account. */

import type { ConsoleRoute, HttpRequest, HttpResponse } from '../../http/handler.ts';
import { CONSOLE_BODY_BYTES_MAX } from '../../http/handler.ts';
import { invalid, json, readJsonBody } from '../../http/json-body.ts';
import { problem } from '../../http/problem.ts';
import { readEmail } from '../accounts/email.ts';
import type { AccountParts } from '../accounts/sign-in.ts';
import { signUp } from '../accounts/sign-up.ts';
import type { SignUpMode } from '../accounts/sign-up-mode.ts';
import type { Failures } from '../failures.ts';
import { unheard } from './answers.ts';
import { registerForm } from './forms.ts';
import { refuseGuesser } from './wrong-credentials.ts';

export interface RegisterParts extends AccountParts {
  readonly mode: SignUpMode;
  readonly failures: Failures;
}

/** `GET settings`, `POST register`. */
export const registerRoutes = (parts: RegisterParts): readonly ConsoleRoute[] => [
  {
    api: 'console',
    needs: 'nobody',
    operation: 'getConsoleSettings',
    method: 'GET',
    path: '/console/api/settings',
    bodyBytesMax: 0,
    handle: () => json({ signUp: parts.mode }),
  },
  {
    api: 'console',
    needs: 'nobody',
    operation: 'register',
    method: 'POST',
    path: '/console/api/register',
    bodyBytesMax: CONSOLE_BODY_BYTES_MAX,
    handle: (request) => register(parts, request),
  },
];

async function register(parts: RegisterParts, request: HttpRequest): Promise<HttpResponse> {
  const read = readJsonBody(request, registerForm);
  if (!read.ok) return read.response;
  const { email, password, clientName = null, invitation = null } = read.value;
  const asked = { email: readEmail(email) ?? '', password, clientName, invitation };
  const done = await signUp(parts, asked, request);
  switch (done.kind) {
    case 'done':
      return { ...json({}), status: 202 };
    case 'closed':
      return problem(request.requestId, 403, 'Nobody can sign up here without an invitation.');
    case 'no-invitation':
      return (
        refuseGuesser(parts.failures, request, 'link') ??
        invalid(request, [
          {
            path: 'invitation',
            message: 'does not exist, was used, or has ended: ask for another',
          },
        ])
      );
    case 'name-missing':
      return invalid(request, [{ path: 'clientName', message: 'is missing' }]);
    case 'name-unwanted':
      return invalid(request, [
        { path: 'clientName', message: 'does not go with an invitation to a client' },
      ]);
    case 'wait':
    case 'busy':
      return unheard(request, done);
  }
}
