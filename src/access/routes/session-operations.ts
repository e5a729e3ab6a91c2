/** What the OpenAPI document says of accounts and sessions. */

import { z } from 'zod';
import { MEMBER_ROLES } from '../../domain/caller.ts';
import type { Operations } from '../../http/openapi/operation.ts';
import { epochMs, id, jsonAnswer, noContent } from '../../http/openapi/parts.ts';
import { SIGN_UP_MODES } from '../accounts/sign-up-mode.ts';
import { passwordForm, registerForm, resetForm, sessionForm } from './forms.ts';

const session = z
  .object({
    csrfToken: z.string().meta({
      description: 'For the header `X-CSRF-Token` of every other request with this session.',
    }),
    account: z.object({ id, email: z.string(), isOperator: z.boolean() }),
    clients: z.array(
      z.object({ clientId: z.string(), name: z.string(), role: z.enum(MEMBER_ROLES) }),
    ),
    endsAt: epochMs.meta({ description: 'However much it is used.' }),
  })
  .meta({
    id: 'Session',
    description: 'Someone who has signed in, and the clients he belongs to.',
  });
const SESSION = {
  csrfToken: 'kT0w…',
  account: { id: 1, email: 'ann@example.com', isOperator: false },
  clients: [{ clientId: 'demo', name: 'Demo', role: 'owner' }],
  endsAt: 1_795_392_000_000,
} as const;
const COOKIE = { 'Set-Cookie': 'The cookie of the session.' };

export const sessionOperations = {
  getConsoleSettings: {
    summary: 'Tell how one can sign up',
    answers: {
      200: jsonAnswer('The settings.', z.object({ signUp: z.enum(SIGN_UP_MODES) }), {
        signUp: 'open',
      }),
    },
  },
  register: {
    summary: 'Make an account',
    description:
      'With a client of its own (`clientName`; where sign-up is `open`, or by an invitation of the operator), or by the `invitation` of a client. ' +
      'The answer is the same when an account has this e-mail address already: with its password it gets the client or membership, with another one nothing happens.',
    body: {
      schema: registerForm,
      example: {
        email: 'ann@example.com',
        password: 'correct horse battery',
        clientName: 'Acme News',
      },
    },
    answers: { 202: jsonAnswer('Taken.', z.object({}), {}) },
    problems: [400, 429],
  },
  getSession: {
    summary: 'Tell who has signed in',
    description: 'Needs no `X-CSRF-Token`: it gives it.',
    answers: { 200: jsonAnswer('The session.', session, SESSION) },
  },
  signIn: {
    summary: 'Sign in',
    description: 'With e-mail and password, or the `link` that a demo engine prints at its start.',
    body: {
      schema: sessionForm,
      example: { email: 'ann@example.com', password: 'correct horse battery' },
    },
    answers: { 200: jsonAnswer('The session has begun.', session, SESSION, COOKIE) },
    problems: [400, 401, 429],
  },
  signOut: {
    summary: 'End this session',
    answers: { 204: { ...noContent('Ended.'), headers: COOKIE } },
  },
  signOutEverywhere: {
    summary: 'End every session of the account, this one too',
    answers: { 204: { ...noContent('Ended.'), headers: COOKIE } },
  },
  changePassword: {
    summary: 'Change the password',
    description: 'Ends every session of the account, and begins a new one.',
    body: {
      schema: passwordForm,
      example: {
        currentPassword: 'correct horse battery',
        newPassword: 'incorrect horse battery',
      },
    },
    answers: { 200: jsonAnswer('Changed.', session, SESSION, COOKIE) },
    problems: [400, 429],
  },
  resetPassword: {
    summary: 'Set the password by a one-time link',
    description: 'Ends every session of the account.',
    body: { schema: resetForm, example: { token: 'tcl_…', newPassword: 'correct horse battery' } },
    answers: { 204: noContent('Set.') },
    problems: [400, 429],
  },
} as const satisfies Operations;
