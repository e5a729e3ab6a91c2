/** `settings` and `register`: how somebody gets an account. */

import { z } from 'zod';
import { accepted, shown } from '../../http/answers.ts';
import { form } from '../../http/form-body.ts';
import type { Route } from '../../http/handler.ts';
import { done, refuse, refused } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import { isNameText, NAME_FAULT } from '../../std/name-text.ts';
import { strictForm } from '../../std/strict-form.ts';
import { readEmail } from '../accounts/email.ts';
import type { AccountParts } from '../accounts/sign-in.ts';
import { signUp } from '../accounts/sign-up.ts';
import type { SignUpMode } from '../accounts/sign-up-mode.ts';
import { SIGN_UP_MODES } from '../accounts/sign-up-mode.ts';
import type { Failures } from '../failures.ts';
import { email, newPassword, token } from './forms.ts';
import { refuseGuesser, refuseUnheard } from './refusals.ts';

export interface RegisterParts extends AccountParts {
  readonly mode: SignUpMode;
  readonly failures: Failures;
}

/** @limit characters of a name of a client → `400` */
const NAME_LENGTH_MAX = 255;
const NAME = `must have 1–${NAME_LENGTH_MAX} characters`;
export const registerForm = strictForm({
  email,
  password: newPassword,
  clientName: z
    .string(NAME)
    .trim()
    .min(1, NAME)
    .max(NAME_LENGTH_MAX, NAME)
    .refine(isNameText, NAME_FAULT)
    .optional(),
  invitation: token.optional(),
});

const forNobody = { api: 'console', needs: 'nobody' } as const;

export const registerRoutes = (parts: RegisterParts): readonly Route[] => [
  settingsRoute(parts),
  registerRoute(parts),
];

const settingsRoute = ({ mode }: RegisterParts) =>
  routesAt('/console/api/settings', forNobody).get(
    'getConsoleSettings',
    {
      summary: 'Tell how one can sign up',
      answer: shown('The settings.', z.object({ signUp: z.enum(SIGN_UP_MODES) }), {
        signUp: 'open',
      }),
    },
    () => done({ signUp: mode }),
  );

const registerRoute = (parts: RegisterParts) =>
  routesAt('/console/api/register', forNobody).post(
    'register',
    {
      summary: 'Make an account',
      description:
        'With a client of its own (`clientName`; where sign-up is `open`, or by an invitation of the operator), or by the `invitation` of a client. ' +
        'The answer is the same when an account has this e-mail address already: with its password it gets the client or membership, with another one nothing happens. This and a sign-in after it, in turn, do show whether an address has an account: where that matters, leave `SIGN_UP` `off`.',
      problems: [400, 429],
      body: form(registerForm, {
        email: 'ann@example.com',
        password: 'correct horse battery',
        clientName: 'Acme News',
      }),
      answer: accepted('Taken.', z.object({}), {}),
    },
    async ({ request, body: { email, password, clientName = null, invitation = null } }) => {
      const asked = { email: readEmail(email) ?? '', password, clientName, invitation };
      const ended = await signUp(parts, asked, request);
      switch (ended.kind) {
        case 'done':
          return done({});
        case 'closed':
          return CLOSED;
        case 'no-invitation':
          return refuseGuesser(parts.failures, request, 'link') ?? NO_INVITATION;
        case 'name-missing':
          return NAME_MISSING;
        case 'name-unwanted':
          return NAME_UNWANTED;
        case 'wait':
        case 'busy':
          return refuseUnheard(ended);
      }
    },
  );

const CLOSED = refused(403, 'Nobody can sign up here without an invitation.');
const NO_INVITATION = refuse.invalid([
  { path: 'invitation', message: 'does not exist, was used, or has ended: ask for another' },
]);
const NAME_MISSING = refuse.invalid([{ path: 'clientName', message: 'is missing' }]);
const NAME_UNWANTED = refuse.invalid([
  { path: 'clientName', message: 'does not go with an invitation to a client' },
]);
