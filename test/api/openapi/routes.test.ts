import t from 'tap';
import { z } from 'zod';
import { withDocument } from '../../../src/api/openapi/routes.ts';
import { shown } from '../../../src/http/answers.ts';
import { done } from '../../../src/http/result.ts';
import { routesAt } from '../../../src/http/route.ts';
import { startApi } from '../../support/api.ts';

const NOBODY = { recall: () => 'missing' as const, authenticate: () => 'missing' as const };
const live = routesAt('/alive', { api: 'open' }).get(
  'getLiveness',
  {
    summary: 'Whether it answers',
    answer: shown('It does.', z.object({ status: z.literal('ok') }), { status: 'ok' }),
  },
  () => done({ status: 'ok' } as const),
);

t.test('the document has the routes of this server, and its own', async (t) => {
  const routes = withDocument([live]);
  const { baseUrl } = await startApi(t, NOBODY, routes);
  const answer = await fetch(`${baseUrl}/openapi.json`);
  t.equal(answer.status, 200);
  t.match(answer.headers.get('content-type'), /^application\/json/);
  const { openapi, paths } = (await answer.json()) as Record<string, object>;
  t.match(openapi, /^3\.1\./);
  t.same(Object.keys(paths ?? {}), ['/alive', '/openapi.json']);
});

t.test('who has it is told that it is unchanged; pages of every origin may read it', async (t) => {
  const { baseUrl } = await startApi(t, NOBODY, withDocument([live]), { corsOrigins: [] });
  const first = await fetch(`${baseUrl}/openapi.json`, {
    headers: { Origin: 'https://a.example' },
  });
  t.equal(first.headers.get('access-control-allow-origin'), '*');
  const etag = first.headers.get('etag') ?? '';
  t.match(etag, /^"[\w-]+"$/);
  const again = (known: string) =>
    fetch(`${baseUrl}/openapi.json`, { headers: { 'If-None-Match': known } });
  t.equal((await again(`"other", W/${etag}`)).status, 304);
  t.equal((await again('"other"')).status, 200);
});
