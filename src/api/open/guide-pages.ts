/** `/docs/`: the guides, made from docs/. `/docs/api` beside them is a page of its own. */

import type { HttpRequest, HttpResponse, OpenRoute } from '../../http/handler.ts';
import { problem } from '../../http/problem.ts';
import type { BuiltFiles } from './built-files.ts';
import { ASK_EACH_TIME, answerFile, KEEP_FOR_EVER } from './built-files.ts';

const START = 'index.html';
/** The client for browsers and Node, as npm installs it: `finish-build.mjs` packs it. */
const CLIENT_PACKAGE = 'tagcast-client.tgz';
const NO_SUCH_PAGE = 'not-found.html';

export function guidePageRoutes(files: () => Promise<BuiltFiles | null>): readonly OpenRoute[] {
  const shared = { operation: 'page', api: 'open', method: 'GET', bodyBytesMax: 0 } as const;
  const page = async (request: HttpRequest, name: string): Promise<HttpResponse> => {
    const all = await files();
    const found = all?.get(name);
    if (found !== undefined) return answerFile(request, found, ASK_EACH_TIME);
    const notFound = all?.get(NO_SUCH_PAGE);
    if (notFound === undefined) return notBuilt(request);
    // A browser names HTML; who does not is a program, which knows problems.
    return request.header('accept').toLowerCase().includes('text/html')
      ? answerFile(request, notFound, ASK_EACH_TIME, 404)
      : problem(request.requestId, 404, 'There is no such guide. /docs/ has them all.');
  };
  return [
    {
      ...shared,
      path: '/docs',
      // Relative: a proxy may serve it under a path of its own.
      handle: () => ({ status: 308, headers: { Location: 'docs/' }, body: '' }),
    },
    { ...shared, path: '/docs/', handle: (request) => page(request, START) },
    {
      ...shared,
      path: '/docs/:page',
      handle(request) {
        const name = request.params['page'] ?? '';
        return page(request, name === CLIENT_PACKAGE ? name : `${name}.html`);
      },
    },
    {
      ...shared,
      path: '/docs/assets/:file',
      async handle(request) {
        const file = (await files())?.get(`assets/${request.params['file'] ?? ''}`);
        return file === undefined
          ? problem(request.requestId, 404, 'The guides have no such file. Load the page again.')
          : answerFile(request, file, KEEP_FOR_EVER);
      },
    },
  ];
}

const notBuilt = ({ requestId }: HttpRequest): HttpResponse =>
  problem(
    requestId,
    404,
    'This engine was built without its guides. Run `npm run build` and load this page again.',
  );
