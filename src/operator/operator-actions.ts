/**
 * The actions of an operator, on clients, apps, devices, held deletions and the like. A command
 * runs them directly on the database, or through the socket of a running engine. Inputs and answers
 * are plain JSON; a refusal is a sentence for the operator.
 */

import type { Logger } from 'pino';
import type { z } from 'zod';
import type { Secrets } from '../access/secrets.ts';
import type { SqlPool } from '../database/sql.ts';
import { formFaults } from '../std/strict-form.ts';
import {
  FORMS as ACCOUNT_FORMS,
  addOperator,
  changeMember,
  dropMember,
  inviteClient,
  inviteMember,
  listClientMembers,
  listOperatorAccounts,
  removeOperator,
  resetAccount,
} from './account-actions.ts';
import type { DeviceParts } from './device-actions.ts';
import {
  FORMS,
  importDevices,
  mapTags,
  readImportScope,
  readPage,
  readScope,
  readTagNames,
} from './device-actions.ts';

interface OperatorParts extends DeviceParts {
  readonly sql: SqlPool;
  readonly secrets: Secrets;
  /** Of the engine, or of the command where it runs on the database itself. */
  readonly log: Logger;
}

export type ActionResult<Value = unknown> =
  | { readonly ok: true; readonly value: Value }
  /** A sentence that says what is wrong with the request. */
  | { readonly ok: false; readonly fault: string };

/**
 * Runs one action by its name. Its answer may have been JSON, so it has no type; `ask` knows it.
 */
export type OperatorActions = (action: string, input: unknown) => Promise<ActionResult>;

interface Action<Value> {
  run(parts: OperatorParts, input: unknown): Promise<ActionResult<Value>>;
}

const ACTIONS = {
  'devices.scope': answered(FORMS.app, readScope),
  'devices.begin-import': answered(FORMS.app, readImportScope),
  'devices.tags': answered(FORMS.tags, mapTags),
  'devices.tag-names': answered(FORMS.tagNames, readTagNames),
  'devices.page': answered(FORMS.page, readPage),
  'devices.import': answered(FORMS.import, importDevices),
  'operator.add': told('operator.add', ACCOUNT_FORMS.account, addOperator),
  'operator.list': answered(ACCOUNT_FORMS.none, listOperatorAccounts),
  'operator.remove': told('operator.remove', ACCOUNT_FORMS.account, removeOperator),
  'operator.invite': told('operator.invite', ACCOUNT_FORMS.none, inviteClient),
  'member.list': answered(ACCOUNT_FORMS.client, listClientMembers),
  'member.invite': told('member.invite', ACCOUNT_FORMS.invitation, inviteMember),
  'member.role': told('member.role', ACCOUNT_FORMS.role, changeMember),
  'member.remove': told('member.remove', ACCOUNT_FORMS.removal, dropMember),
  'member.reset': told('member.reset', ACCOUNT_FORMS.account, resetAccount),
};

export type ActionName = keyof typeof ACTIONS;

/** The type of each action's answer. */
export type Answers = {
  readonly [Name in ActionName]: (typeof ACTIONS)[Name] extends Action<infer Value> ? Value : never;
};

/** The actions on one store. */
export function createOperatorActions(parts: OperatorParts): OperatorActions {
  const known = new Map<string, Action<unknown>>(Object.entries(ACTIONS));
  return (name, input) =>
    known.get(name)?.run(parts, input) ?? Promise.resolve(refused(`There is no action ${name}.`));
}

function action<T, Value>(
  form: z.ZodType<T>,
  run: (parts: OperatorParts, input: T) => Promise<ActionResult<Value>>,
): Action<Value> {
  return {
    run(parts, input) {
      const parsed = form.safeParse(input);
      if (parsed.success) return run(parts, parsed.data);
      const [fault] = formFaults(parsed.error);
      return Promise.resolve(refused(`${fault?.path} ${fault?.message}.`));
    },
  };
}

type Run<T, Value> = (
  parts: OperatorParts,
  input: T,
) => Promise<{ readonly value: Value } | { readonly fault: string }>;

/**
 * An action that decides who gets into the console. The log tells it with its input, which has no
 * secret; never with its answer, which may be a link. An account without a client has no audit log.
 */
function told<T extends object, Value>(
  action: string,
  form: z.ZodType<T>,
  run: Run<T, Value>,
): Action<Value> {
  return answered(form, async (parts, input) => {
    const answer = await run(parts, input);
    const carriedOut: object = { action, ...input };
    if (!('fault' in answer)) {
      parts.log.info(carriedOut, 'the operator has carried out a command on accounts');
    }
    return answer;
  });
}

/** An action that returns a value, or a fault as its refusal. */
function answered<T, Value>(form: z.ZodType<T>, run: Run<T, Value>): Action<Value> {
  return action(form, async (parts, input) => {
    const answer = await run(parts, input);
    return 'fault' in answer ? refused(answer.fault) : done(answer.value);
  });
}

const done = <Value>(value: Value): ActionResult<Value> => ({ ok: true, value });
const refused = (fault: string): ActionResult<never> => ({ ok: false, fault });
