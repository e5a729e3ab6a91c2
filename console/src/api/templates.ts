/** The templates of the client: which there are, one of them, what one would make. */

import type { AnswerOf } from '../../../packages/client/src/client.ts';
import type { ClientApi } from './client.ts';
import { cursorOf } from './page.ts';

const TEMPLATE = '/push-admin-api/v3/{client}/apps/{id}/platforms/{platform}/template';
const PAGE_ROWS = 1_000;

export type ListedTemplate = AnswerOf<
  'GET',
  '/push-admin-api/v3/{client}/templates'
>['body'][number];
export type Template = AnswerOf<'GET', typeof TEMPLATE>['body'];
export type Trial = AnswerOf<'POST', `${typeof TEMPLATE}/preview`>['body']['trial'];

/** The app and platform that a template is for. */
export interface TemplateScope {
  readonly appId: number;
  readonly platformId: number;
}

const pathOf = ({ appId, platformId }: TemplateScope) => ({ id: appId, platform: platformId });

export async function listTemplates(
  api: ClientApi,
  signal: AbortSignal,
): Promise<readonly ListedTemplate[]> {
  const templates: ListedTemplate[] = [];
  let cursor: string | null = null;
  do {
    const page: { readonly body: readonly ListedTemplate[]; readonly headers: Headers } =
      await api.request('GET', '/push-admin-api/v3/{client}/templates', {
        query: { limit: PAGE_ROWS, ...(cursor === null ? {} : { cursor }) },
        signal,
      });
    templates.push(...page.body);
    cursor = cursorOf(page.headers);
  } while (cursor !== null);
  return templates;
}

export async function readTemplate(
  api: ClientApi,
  scope: TemplateScope,
  signal?: AbortSignal,
): Promise<Template> {
  const path = pathOf(scope);
  return (await api.request('GET', TEMPLATE, { path, ...(signal && { signal }) })).body;
}

export interface TemplateToTry {
  readonly expression: string;
  /** Undefined: there is none. */
  readonly sample: unknown;
}

/** Undefined: without a sample there is nothing to show. */
export async function previewTemplate(
  api: ClientApi,
  scope: TemplateScope,
  body: TemplateToTry,
  signal: AbortSignal,
): Promise<Trial | null> {
  const path = pathOf(scope);
  const answer = await api.request('POST', `${TEMPLATE}/preview`, { path, body, signal });
  return answer.body.trial ?? null;
}

export async function putTemplate(
  api: ClientApi,
  scope: TemplateScope,
  body: TemplateToTry,
): Promise<void> {
  await api.request('PUT', TEMPLATE, { path: pathOf(scope), body });
}

export async function deleteTemplate(api: ClientApi, scope: TemplateScope): Promise<void> {
  await api.request('DELETE', TEMPLATE, { path: pathOf(scope) });
}
