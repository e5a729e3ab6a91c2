/**
 * The actions of an operator, on clients, apps, devices, held deletions and the like. A command
 * runs them directly on the database, or through the socket of a running engine. Inputs and answers
 * are plain JSON; a refusal is a sentence for the operator.
 */

import { z } from 'zod';
import type { ShownCredential } from '../access/credentials.ts';
import { secretKeyFault } from '../access/credentials.ts';
import type { Secrets } from '../access/secrets.ts';
import { operatorOrigin } from '../audit/operator-origin.ts';
import { recordChange } from '../audit/record-change.ts';
import type { AppRefusal } from '../catalogue/apps.ts';
import { makeApp } from '../catalogue/apps.ts';
import { listApps } from '../catalogue/list-apps.ts';
import { findAppClient } from '../clients/find-app.ts';
import { findClient } from '../clients/find-client.ts';
import type { Sql, SqlPool } from '../database/sql.ts';
import { transact } from '../database/transact.ts';
import { overLimitSentence } from '../domain/client-limits.ts';
import type { Scope } from '../domain/device.ts';
import { isPlatformId } from '../domain/device.ts';
import { wasNobodyAsked } from '../provider-credentials/credential-check.ts';
import type { PutTerms } from '../provider-credentials/provider-credentials.ts';
import {
  PROVIDER_GRACE_HOURS,
  parseProviderCredential,
} from '../provider-credentials/provider-credentials.ts';
import { putCredential, removeCredential } from '../provider-credentials/put-credential.ts';
import type { CredentialState } from '../provider-credentials/sql/read-credential-states.ts';
import { readCredentialStates } from '../provider-credentials/sql/read-credential-states.ts';
import { sentenceOf } from '../providers/credential-form.ts';
import type { ProviderOrigins } from '../providers/origins.ts';
import { providerOf } from '../providers/providers.ts';
import { isNameText, NAME_FAULT } from '../std/name-text.ts';
import { formFaults } from '../std/strict-form.ts';
import {
  FORMS as CREDENTIAL_FORMS,
  graceHours,
  id,
  renewCredential,
  showCredential,
  slug,
} from './credential-actions.ts';
import { rotateSecretKey } from './secret-key-actions.ts';

interface OperatorParts {
  readonly sql: SqlPool;
  readonly secrets: Secrets;
  /** The operator's settings of the providers' addresses: a credential may name only these. */
  readonly origins: ProviderOrigins;
  /**
   * Asks the provider whether the credential works; the note is a sentence. `isHealthy` null: the
   * provider could not be asked.
   */
  readonly check: (scope: Scope) => Promise<CheckedCredential>;
}

export interface CheckedCredential {
  readonly isHealthy: boolean | null;
  readonly note: string;
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

/** The name of an app. */
const name = z
  .string()
  .min(1, 'must not be empty')
  .max(255, 'must have 255 characters at most')
  .refine(isNameText, NAME_FAULT);

const ACTIONS = {
  'app.add': action(
    z.object({
      client: slug,
      name,
      platformIds: z
        .array(z.number().refine(isPlatformId, 'must be 3 (iOS), 7 (web) or 15 (Android)'))
        .min(1, 'must name a platform')
        .transform((platformIds) => [...new Set(platformIds)]),
    }),
    addApp,
  ),
  'app.list': action(z.object({ client: slug }), async ({ sql }, { client }) => {
    const row = await findClient(sql, client);
    return row === null ? refused(noClient(client).fault) : done(await listApps(sql, row.id));
  }),
  'app.credential': action(
    z.object({
      appId: id,
      platformId: z.number(),
      credential: z.unknown(),
      graceHours: graceHours.default(PROVIDER_GRACE_HOURS),
      expiresAtMs: z.int('must be a time').nullable().default(null),
    }),
    putProviderCredential,
  ),
  'app.show': action(z.object({ appId: id }), showApp),
  'app.check': action(z.object({ appId: id, platformId: z.number() }), checkApp),
  'credential.show': answered(CREDENTIAL_FORMS.show, showCredential),
  'credential.rotate': answered(CREDENTIAL_FORMS.rotate, renewCredential),
  'secret-key.rotate': action(z.object({}), async ({ sql, secrets }) =>
    done(await rotateSecretKey(sql, secrets)),
  ),
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

/** An action that returns a value, or a fault as its refusal. */
function answered<T, Value>(form: z.ZodType<T>, run: Run<T, Value>): Action<Value> {
  return action(form, async (parts, input) => {
    const answer = await run(parts, input);
    return 'fault' in answer ? refused(answer.fault) : done(answer.value);
  });
}

/**
 * Values made with another key than the engines' are of no use to them, so they are refused before
 * they are made.
 */
async function otherKey(sql: Sql, secrets: Secrets): Promise<ActionResult<never> | null> {
  const fault = await secretKeyFault(sql, secrets);
  return fault === null ? null : refused(fault);
}

function addApp(
  { sql, secrets }: OperatorParts,
  input: {
    readonly client: string;
    readonly name: string;
    readonly platformIds: readonly number[];
  },
): Promise<ActionResult<AddedApp>> {
  return transact(sql, async (tx) => {
    const fault = await otherKey(tx, secrets);
    if (fault !== null) return fault;
    const client = await findClient(tx, input.client);
    if (client === null) return refused(noClient(input.client).fault);
    const { name, platformIds } = input;
    const owner = { clientId: client.id, clientSlug: client.slug };
    const made = await makeApp(tx, secrets, { ...owner, name, platformIds });
    if (!made.ok) return refused(whyNoApp(made.refusal));
    const change = { action: 'app.create', id: made.id, name } as const;
    await recordChange(tx, operatorOrigin(client.id), change);
    return done({ appId: made.id, platformIds, credential: made.credential });
  });
}

const whyNoApp = (refusal: AppRefusal): string =>
  refusal.kind === 'over-limit' ? overLimitSentence(refusal.over) : `This ${refusal.why}.`;

async function putProviderCredential(
  parts: OperatorParts,
  input: PutTerms & Scope & { readonly credential?: unknown },
): Promise<ActionResult<PutCredential>> {
  const { sql, secrets, origins } = parts;
  const { appId, platformId, credential } = input;
  const none = refused(`There is no app ${appId} on platform ${platformId}.`);
  const client = await findAppClient(sql, appId);
  if (client === null) return none;
  const origin = operatorOrigin(client.clientId);
  if (credential === null) {
    const isThere = await removeCredential(parts, origin, { appId, platformId });
    return isThere ? done({ appId, platformId, checked: null, publicNote: null }) : none;
  }
  const parsed = parseProviderCredential(platformId, credential, origins);
  if (!parsed.ok) return refused(parsed.faults.map(sentenceOf).join(' '));
  const fault = await otherKey(sql, secrets);
  if (fault !== null) return fault;
  const scope = { appId, platformId };
  const checked = await putCredential(parts, origin, scope, parsed.credential, input);
  if (checked === null) return none;
  const publicNote = providerOf(parsed.credential).publicNote(parsed.credential);
  return done({ appId, platformId, checked, publicNote });
}

async function showApp(
  { sql }: OperatorParts,
  { appId }: { readonly appId: number },
): Promise<ActionResult<readonly CredentialState[]>> {
  const states = await readCredentialStates(sql, appId, PLATFORMS_MAX);
  return states.length === 0 ? refused(`There is no app ${appId}.`) : done(states);
}

async function checkApp(
  { sql, check }: OperatorParts,
  scope: Scope,
): Promise<ActionResult<string>> {
  const { appId, platformId } = scope;
  const states = await readCredentialStates(sql, appId, PLATFORMS_MAX);
  if (!states.some((state) => state.platformId === platformId)) {
    return refused(`There is no app ${appId} on platform ${platformId}.`);
  }
  const checked = await check(scope);
  const { isHealthy, note } = checked;
  return isHealthy || wasNobodyAsked(checked) ? done(note) : refused(note);
}

/** More platforms than exist. */
const PLATFORMS_MAX = 100;

export interface AddedApp {
  readonly appId: number;
  readonly platformIds: readonly number[];
  readonly credential: ShownCredential;
}
export interface PutCredential extends Scope {
  /** Null: the credential was removed. */
  readonly checked: CheckedCredential | null;
  /** Information that apps need about it, as a sentence without its full stop; null: none. */
  readonly publicNote: string | null;
}
const noClient = (client: string) => ({ fault: `There is no client ${client}.` });

const done = <Value>(value: Value): ActionResult<Value> => ({ ok: true, value });
const refused = (fault: string): ActionResult<never> => ({ ok: false, fault });
