/**
 * The tags of an app in their tag groups: `POST /push-api/tags`, and the GET form for callers that
 * cache it. The body is rendered once for each version of the catalogue. Concurrent requests share
 * one check of that version, which sees tags created on any node.
 */

import { compressTree } from '../../catalogue/routes/compressed-tree.ts';
import type { RenderedTree, TreeRequest } from '../../catalogue/tag-tree.ts';
import { matchesEntityTag } from '../../http/entity-tag.ts';
import type { HttpRequest, HttpResponse, Route } from '../../http/handler.ts';
import { BODY_BYTES_MAX } from '../../http/handler.ts';
import type { Coding } from '../../http/negotiation.ts';
import { preferredCoding } from '../../http/negotiation.ts';
import { problem } from '../../http/problem.ts';
import type { AppApi } from './app-api.ts';
import { readScope } from './scope.ts';

export const tagsRoutes = (api: AppApi): readonly Route[] => [
  {
    operation: 'listAppTags',
    method: 'POST',
    path: '/push-api/tags',
    api: 'app',
    bodyBytesMax: BODY_BYTES_MAX,
    async handle(request, caller) {
      const scope = await readScope(api.catalogue, request, caller);
      if (!scope.ok) return scope.response;
      const { clientId } = caller;
      return answer(request, await renderTree(api, { clientId, appId: scope.appId, form: 'post' }));
    },
  },
  {
    operation: 'getAppTags',
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

/** The caller stores the answer, and asks each time whether it is still valid. */
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
