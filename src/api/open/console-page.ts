/** `/console/`: the page, asked for each time, and its files, whose names change with them. */

import type { HttpRequest, HttpResponse, OpenRoute } from '../../http/handler.ts';
import { problem } from '../../http/problem.ts';
import type { BuiltFiles } from './built-files.ts';
import { ASK_EACH_TIME, answerFile, KEEP_FOR_EVER, policyWith } from './built-files.ts';

const PAGE = 'index.html';
/** Previews show the pictures of notifications, which are at any address. */
const POLICY = policyWith("'self' data: https:");

export function consolePageRoutes(files: () => Promise<BuiltFiles | null>): readonly OpenRoute[] {
  const shared = { operation: 'page', api: 'open', method: 'GET', bodyBytesMax: 0 } as const;
  const serve = async (
    request: HttpRequest,
    name: string,
    cacheControl: string,
  ): Promise<HttpResponse> => {
    const all = await files();
    if (all === null) return notBuilt(request);
    const file = all.get(name);
    if (file === undefined) {
      return problem(request.requestId, 404, 'The console has no such file. Load its page again.');
    }
    const answer = answerFile(request, file, cacheControl);
    return { ...answer, headers: { ...answer.headers, 'Content-Security-Policy': POLICY } };
  };
  return [
    {
      ...shared,
      path: '/console',
      // Relative: a proxy may serve it under a path of its own.
      handle: () => ({ status: 308, headers: { Location: 'console/' }, body: '' }),
    },
    {
      ...shared,
      path: '/console/',
      handle: (request) => serve(request, PAGE, ASK_EACH_TIME),
    },
    {
      ...shared,
      path: '/console/assets/:file',
      handle: (request) => serve(request, `assets/${request.params['file'] ?? ''}`, KEEP_FOR_EVER),
    },
  ];
}

const notBuilt = ({ requestId }: HttpRequest): HttpResponse =>
  problem(
    requestId,
    404,
    'This engine was built without its console. Run `npm run build` and load this page again.',
  );
