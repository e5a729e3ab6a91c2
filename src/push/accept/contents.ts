/** Makes the content for each (app, platform) of a push, once, when the push is accepted. */

import type { Sql } from '../../database/sql.ts';
import { scopeKeyOf } from '../../domain/device.ts';
import type { Payload, TemplatedPayload } from '../../domain/notification.ts';
import { payloadFaults } from '../../providers/payload-size.ts';
import { applyTemplates } from '../../templates/apply-templates.ts';
import type { Evaluator } from '../../templates/evaluator.ts';
import { listTemplates } from '../../templates/templates.ts';
import type { ClientScope } from '../sql/notifications/list-scopes.ts';
import { jobContent } from './job-payload.ts';
import { withLanguages } from './languages.ts';
import type { Push, PushFault } from './push.ts';

export type Content =
  | {
      readonly kind: 'fit';
      readonly payload: Payload;
      /** Null: no template concerns it, and it is in one language. */
      readonly templated: TemplatedPayload | null;
    }
  | { readonly kind: 'invalid'; readonly faults: readonly PushFault[] }
  | { readonly kind: 'busy' };

export interface ContentParts {
  readonly sql: Sql;
  readonly evaluator: Evaluator;
  /** Whether pushes are replaceable on the device whose payloads do not say (decision 73). */
  readonly replaceableDefault: boolean;
}

interface Asked {
  readonly push: Push;
  readonly scopes: readonly ClientScope[];
}

/** The contents of a client's pushes, in order. Only those that concern a template cost more. */
export async function contentsOf(
  { sql, evaluator, replaceableDefault }: ContentParts,
  clientId: number,
  asked: readonly Asked[],
): Promise<readonly Content[]> {
  const appIds = new Set(asked.flatMap(appsWithTemplates));
  const templates = appIds.size === 0 ? [] : await listTemplates(sql, clientId, [...appIds]);
  const expressions = new Map(templates.map((one) => [scopeKeyOf(one), one.expression]));
  const contents = await Promise.all(
    asked.map((one) => contentOf(evaluator, clientId, one, expressions)),
  );
  const known = await withLanguages(sql, clientId, contents);
  return known.map((content, index) =>
    jobContent(content, asked[index]?.scopes ?? [], replaceableDefault),
  );
}

const appsWithTemplates = ({ push, scopes }: Asked): readonly number[] =>
  push.given === undefined
    ? []
    : scopes.flatMap(({ appId, hasTemplate }) => (hasTemplate ? appId : []));

async function contentOf(
  evaluator: Evaluator,
  clientId: number,
  { push, scopes }: Asked,
  expressions: ReadonlyMap<string, string>,
): Promise<Content> {
  const { given } = push;
  const templated = scopes.flatMap((scope) => {
    const expression = expressions.get(scopeKeyOf(scope));
    return expression === undefined ? [] : { ...scope, expression };
  });
  const plain = scopes.filter((scope) => !expressions.has(scopeKeyOf(scope)));
  const faults = templated.length > 0 && plain.length === 0 ? [] : plainFaults(push, plain);
  if (given === undefined) return contentWith(push, faults, null);
  if (templated.length === 0) {
    const isLocalised = push.payload.languages !== undefined;
    return contentWith(push, faults, isLocalised ? { given, payloads: {} } : null);
  }
  const applied = await applyTemplates(evaluator, clientId, given, templated);
  if (applied.kind === 'busy') return applied;
  return applied.kind === 'invalid'
    ? contentWith(push, [...faults, ...applied.faults], null)
    : contentWith(push, faults, { given, payloads: applied.payloads });
}

const contentWith = (
  { payload }: Push,
  faults: readonly PushFault[],
  templated: TemplatedPayload | null,
): Content =>
  faults.length > 0 ? { kind: 'invalid', faults } : { kind: 'fit', payload, templated };

const plainFaults = (
  { formFaults, payload }: Push,
  scopes: readonly ClientScope[],
): readonly PushFault[] =>
  formFaults ??
  payloadFaults(
    payload,
    scopes.map(({ platformId }) => platformId),
  );
