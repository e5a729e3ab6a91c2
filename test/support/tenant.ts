/**
 * A client with an app, and ways to give it tags and groups, as the Admin API's statements leave
 * them.
 */

import type { SqlPool } from '../../src/database/sql.ts';
import type { Caller } from '../../src/domain/caller.ts';

export interface TagToMake {
  readonly name?: string;
  readonly sourceId?: string;
  readonly groupId?: number;
  readonly expiresAtMs?: number;
  readonly appIds?: readonly number[];
  readonly optionalParameters?: Readonly<Record<string, string>>;
}

export interface Tenant {
  readonly clientId: number;
  readonly slug: string;
  /** Has platforms 3 and 15. */
  readonly appId: number;
  /** The app's API user. */
  readonly caller: Caller;
  makeApp(): Promise<number>;
  makeTag(tag?: TagToMake): Promise<number>;
  makeTags(count: number): Promise<readonly number[]>;
  makeGroup(name: string, parentId?: number, sourceId?: string): Promise<number>;
  deleteTag(tagId: number): Promise<void>;
}

export async function makeTenant(sql: SqlPool, slug: string): Promise<Tenant> {
  const [client] = await sql<{ id: number }[]>`
    insert into clients (slug, name) values (${slug}, ${slug}) returning id`;
  const clientId = idOf(client);
  const raise = () =>
    sql`update clients set catalogue_version = catalogue_version + 1 where id = ${clientId}`;

  async function makeApp(): Promise<number> {
    const [app] = await sql<{ id: number }[]>`
      insert into apps (client_id, name) values (${clientId}, 'App') returning id`;
    await sql`insert into app_platforms (app_id, platform_id) values (${idOf(app)}, 3), (${idOf(app)}, 15)`;
    await raise();
    return idOf(app);
  }

  async function makeTag(tag: TagToMake = {}): Promise<number> {
    const parameters = tag.optionalParameters;
    const [row] = await sql<{ id: number }[]>`
      insert into tags (client_id, name, source_id, group_id, expires_at_ms, app_ids, optional_parameters)
      values (${clientId}, ${tag.name ?? 'Tag'}, ${tag.sourceId ?? null}, ${tag.groupId ?? null},
        ${tag.expiresAtMs ?? null}, ${tag.appIds === undefined ? null : [...tag.appIds]}::int[],
        ${parameters === undefined ? null : sql.json(parameters)})
      returning id`;
    await raise();
    return idOf(row);
  }

  async function makeTags(count: number): Promise<readonly number[]> {
    const rows = await sql<{ id: number }[]>`
      insert into tags (client_id, name) select ${clientId}, 'Tag' from generate_series(1, ${count}::int) returning id`;
    await raise();
    return rows.map(idOf);
  }

  async function makeGroup(name: string, parentId?: number, sourceId?: string): Promise<number> {
    const [row] = await sql<{ id: number }[]>`
      insert into tag_groups (client_id, name, parent_id, source_id)
      values (${clientId}, ${name}, ${parentId ?? null}, ${sourceId ?? null}) returning id`;
    await raise();
    return idOf(row);
  }

  async function deleteTag(tagId: number): Promise<void> {
    await sql`update tags set deleted_at = now() where id = ${tagId}`;
    await raise();
  }

  const appId = await makeApp();
  return {
    clientId,
    slug,
    appId,
    caller: {
      role: 'api-user',
      clientId,
      clientSlug: slug,
      appId,
      userName: `${slug}-app`,
      method: 'bearer',
    },
    makeApp,
    makeTag,
    makeTags,
    makeGroup,
    deleteTag,
  };
}

function idOf(row: { readonly id: number } | undefined): number {
  if (row === undefined) throw new Error('nothing was inserted');
  return row.id;
}
