/**
 * An app's tags in their groups: `POST /push-api/tags`, and GET for callers that cache. The body is
 * rendered once per catalogue version; requests share a check of it, which sees tags of any node.
 */

import { z } from 'zod';
import { compressTree } from '../../catalogue/routes/compressed-tree.ts';
import { appTag } from '../../catalogue/routes/tag-schemas.ts';
import type { RenderedTree, TreeRequest } from '../../catalogue/tag-tree.ts';
import { matchesEntityTag } from '../../http/entity-tag.ts';
import type { HttpRequest, HttpResponse, Route } from '../../http/handler.ts';
import { BODY_BYTES_MAX } from '../../http/handler.ts';
import type { Coding } from '../../http/negotiation.ts';
import { preferredCoding } from '../../http/negotiation.ts';
import type { Answer, Parameter } from '../../http/openapi/operation.ts';
import { count, id, jsonAnswer, UNCHANGED } from '../../http/openapi/parts.ts';
import { problem } from '../../http/problem.ts';
import { answerRefusal } from '../../http/result.ts';
import type { AppApi } from './app-api.ts';
import { SCOPE, scopeParameters } from './parameter-schemas.ts';
import { parametersOf, scopeOf } from './scope.ts';

interface AppTagGroup {
  id?: number | undefined;
  sourceId?: string | undefined;
  name: string;
  tags: z.infer<typeof appTag>[];
  groups?: AppTagGroup[] | undefined;
}
const appTagGroup: z.ZodType<AppTagGroup> = z
  .object({
    id: count.optional(),
    sourceId: z.string().optional(),
    name: z.string(),
    tags: z.array(appTag),
    get groups() {
      return z.array(appTagGroup).optional();
    },
  })
  .meta({
    id: 'AppTagGroup',
    description:
      'A group of tags. The first group of a tree, `default`, holds the tags without a group: it has no `groups`, and no `id` or the `id` 0.',
  });

const TREE_EXAMPLE = [
  { name: 'default', tags: [{ id: 2, name: 'Breaking news', sourceId: 'breaking-news' }] },
  { id: 6, sourceId: 'sports', name: 'Sports', tags: [], groups: [] },
];
const tree: Readonly<Record<number, Answer>> = {
  200: jsonAnswer('The tags in their groups.', z.array(appTagGroup), TREE_EXAMPLE, {
    ETag: 'Changes with the tree; one for each coding.',
  }),
  304: UNCHANGED,
};
const ifNoneMatch: Parameter = {
  description: 'ETags of answers that the caller has.',
  schema: z.string(),
  example: '"pX0r1Jcx9Ssbo1v6dYkm8g"',
};

const ANSWERED =
  'In their groups. From 1,024 characters on the answer is compressed for callers that accept it (`br`, `gzip`). With `If-None-Match` an unchanged tree is `304`.';

export const tagsRoutes = (api: AppApi): readonly Route[] => [
  {
    operation: 'listAppTags',
    document: {
      summary: 'List the tags that an app can offer',
      description: ANSWERED,
      headers: { 'If-None-Match': ifNoneMatch },
      body: { schema: scopeParameters, example: SCOPE },
      answers: tree,
      problems: [400],
    },
    method: 'POST',
    path: '/push-api/tags',
    api: 'app',
    bodyBytesMax: BODY_BYTES_MAX,
    async handle(request, caller) {
      const read = parametersOf(request);
      const scope = read.ok ? await scopeOf(api.catalogue, caller, read.value) : read;
      if (!scope.ok) return answerRefusal(request, scope);
      const { clientId } = caller;
      const { appId } = scope.value;
      return answer(request, await renderTree(api, { clientId, appId, form: 'post' }));
    },
  },
  {
    operation: 'getAppTags',
    document: {
      summary: 'The tags that an app can offer, for callers that cache them',
      description: `The same tree, whose first group has the \`id\` 0 here. ${ANSWERED}`,
      path: { app: { description: 'The id of the app.', schema: id, example: 1 } },
      headers: { 'If-None-Match': ifNoneMatch },
      answers: tree,
    },
    method: 'GET',
    path: '/push-api/v3/:client/tags/:app',
    api: 'app',
    bodyBytesMax: BODY_BYTES_MAX,
    async handle(request, caller) {
      const { client, app } = request.params;
      if (client !== caller.clientSlug || caller.appId === null || app !== `${caller.appId}`) {
        const detail = 'This credential belongs to another client or app.';
        return problem(request.requestId, 403, detail);
      }
      const { clientId } = caller;
      return answer(request, await renderTree(api, { clientId, appId: caller.appId, form: 'get' }));
    },
  },
];

async function renderTree(
  { catalogue, tagTrees }: AppApi,
  wanted: Pick<TreeRequest, 'clientId' | 'appId' | 'form'>,
): Promise<RenderedTree> {
  const snapshot = await catalogue.fresh(wanted.clientId);
  return tagTrees.render({ ...wanted, snapshot, nowMs: Date.now() });
}

function answer(request: HttpRequest, tree: RenderedTree): HttpResponse | Promise<HttpResponse> {
  const known = [tree.etag, ...CODINGS.map((coding) => etagOf(tree, coding))].find((etag) =>
    matchesEntityTag(request.header('if-none-match'), etag),
  );
  if (known !== undefined) return { status: 304, headers: headersOf(known), body: '' };
  const coding = preferredCoding(request.header('accept-encoding'));
  const body = coding === null ? null : compressTree(tree, coding);
  if (coding === null || body === null) return ok(tree.body, headersOf(tree.etag));
  const headers = { ...headersOf(etagOf(tree, coding)), 'Content-Encoding': coding };
  return body instanceof Promise ? body.then((octets) => ok(octets, headers)) : ok(body, headers);
}

const CODINGS: readonly Coding[] = ['br', 'gzip'];

/** Other bytes need another ETag (RFC 9110, 8.8.3). */
const etagOf = ({ etag }: RenderedTree, coding: Coding): string =>
  `${etag.slice(0, -1)}-${coding}"`;

const headersOf = (etag: string): Readonly<Record<string, string>> => ({
  ETag: etag,
  'Cache-Control': 'private, no-cache',
  Vary: 'Accept-Encoding',
});

const ok = (body: string | Buffer, headers: Readonly<Record<string, string>>): HttpResponse => ({
  status: 200,
  headers: { ...headers, 'Content-Type': 'application/json' },
  body,
});
