/**
 * The web component for editors, its requests in its order (internals/existing-clients.md, "Who may
 * call" and "App API" and "Admin API"): a page of another origin that reads tags with a Bearer
 * token, and sends nothing else.
 */

import t from 'tap';
import { pageOf } from '../support/page.ts';
import { withSharedServices } from '../support/shared-service.ts';

interface Item {
  readonly id: number;
  readonly name: string;
}

interface Group {
  readonly id: number;
  readonly name: string;
  readonly tags: readonly Item[];
  readonly groups: readonly Group[];
}

const ascending = (one: number, other: number): number => one - other;

const page = pageOf('https://cms.customer.example');

/** Its only request: a path of its settings, the client, and the end that its version adds. */
async function readTags<T>(apiUrl: string, path: string, token: string): Promise<T> {
  const answer = await page(`${apiUrl}${path}`, 'GET', { Authorization: `Bearer ${token}` });
  return (await answer.json()) as T;
}

await withSharedServices(t, async (t, { engine, demo }) => {
  const { clientId, appId } = demo;

  await t.test('the first version: the tree of an app, made flat by the component', async (t) => {
    const apiUrl = `${engine.url}/push-api/v3/`;
    const tree = await readTags<readonly Group[]>(
      apiUrl,
      `${clientId}/tags/${appId}`,
      demo.apiUser.token,
    );
    t.match(tree[0], { id: 0, name: 'default', tags: [{ name: 'Breaking news' }] });
    const flat = (groups: readonly Group[] = []): readonly Item[] =>
      groups.flatMap(({ tags, groups }) => [...tags, ...flat(groups)]);
    t.same(
      flat(tree)
        .map(({ id }) => id)
        .sort(ascending),
      [...demo.tagIds].sort(ascending),
    );
  });

  await t.test('the last version: the tags of the client, as they are', async (t) => {
    const apiUrl = `${engine.url}/push-admin-api/v3/`;
    const tags = await readTags<readonly Item[]>(apiUrl, `${clientId}/tags`, demo.superUser.token);
    t.same(tags.map(({ id }) => id).sort(ascending), [...demo.tagIds].sort(ascending));
    const found = tags.filter(({ name }) => name.toLowerCase().includes('go'));
    t.match(found, [{ id: Number, name: 'Goals' }], 'what the editor types is looked for');
  });

  await t.test('a token that is not right: the page sees the answer, and no tags', async (t) => {
    const answer = await readTags<{ readonly status: number }>(
      `${engine.url}/push-admin-api/v3/`,
      `${clientId}/tags`,
      'wrong',
    );
    t.equal(answer.status, 401);
  });
});
