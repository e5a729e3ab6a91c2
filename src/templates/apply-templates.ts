/** Turns the payload of a push into what each (app, platform) with a template gets of it. */

import type { JsonObject } from '../../packages/std/src/json.ts';
import type { PlatformId } from '../../packages/std/src/platforms.ts';
import type { Scope } from '../domain/device.ts';
import { scopeKeyOf } from '../domain/device.ts';
import type { Payload } from '../domain/notification.ts';
import type { PayloadFault } from '../domain/payload.ts';
import { givenPayload, sendablePayload } from '../domain/payload.ts';
import { TEMPLATE_FAULTS_MAX, TEMPLATES_PER_PUSH_MAX } from '../domain/template.ts';
import { payloadFaults } from '../providers/payload-size.ts';
import { PROVIDERS } from '../providers/providers.ts';
import type { Evaluator, TemplateResult } from './evaluator.ts';

interface TemplatedScope extends Scope<PlatformId> {
  readonly expression: string;
}

type Applied =
  /** Keyed by scope. */
  | { readonly kind: 'made'; readonly payloads: Readonly<Record<string, Payload>> }
  | { readonly kind: 'invalid'; readonly faults: readonly PayloadFault[] }
  | { readonly kind: 'busy' };

/** `given`: the payload as its publisher wrote it. */
export async function applyTemplates(
  evaluator: Evaluator,
  clientId: number,
  given: JsonObject,
  scopes: readonly TemplatedScope[],
): Promise<Applied> {
  if (scopes.length > TEMPLATES_PER_PUSH_MAX) {
    return { kind: 'invalid', faults: [{ path: 'appIds', message: tooMany(scopes.length) }] };
  }
  const expressions = [...new Set(scopes.map(({ expression }) => expression))];
  const evaluation = await evaluator.evaluate(clientId, expressions, JSON.stringify(given));
  if (evaluation.kind === 'busy') return evaluation;
  const made: (readonly [string, Payload])[] = [];
  const faults: PayloadFault[] = [];
  for (const scope of scopes) {
    // Without a result: the template before has ended the evaluation, and the fault is its own.
    const result = evaluation.results[expressions.indexOf(scope.expression)];
    if (result === undefined) continue;
    const read = readResult(result, scope.platformId);
    if (read.ok) made.push([scopeKeyOf(scope), read.payload]);
    else faults.push({ path: 'payload', message: `${nameOf(scope)} ${read.why}` });
  }
  if (faults.length > 0) {
    return { kind: 'invalid', faults: faults.slice(0, TEMPLATE_FAULTS_MAX) };
  }
  return { kind: 'made', payloads: Object.fromEntries(made) };
}

const tooMany = (templates: number): string =>
  `The push concerns ${templates} templates of apps on their platforms; the limit is ${TEMPLATES_PER_PUSH_MAX}. Name fewer apps.`;

type ReadResult =
  | { readonly ok: true; readonly payload: Payload }
  | { readonly ok: false; readonly why: string };

function readResult(result: TemplateResult, platformId: PlatformId): ReadResult {
  if (!result.ok) {
    const { why, position } = result.fault;
    const where = position === undefined ? '' : ` at position ${position}`;
    return { ok: false, why: `fails on this payload${where}: ${why}` };
  }
  if (!result.json.startsWith('{')) return { ok: false, why: 'makes something that is no object.' };
  const given = givenPayload(result.json);
  const parsed = given.ok ? sendablePayload(given.given) : given;
  const faults = parsed.ok ? payloadFaults(parsed.payload, [platformId]) : parsed.faults;
  if (parsed.ok && faults.length === 0) return parsed;
  const told = faults.map(({ path, message }) => `${path} ${message}`).join(' ');
  return { ok: false, why: `makes a payload that cannot be sent: ${told}` };
}

const nameOf = ({ appId, platformId }: Scope<PlatformId>): string =>
  `The template of app ${appId} on platform ${platformId} (${PROVIDERS[platformId].name})`;
