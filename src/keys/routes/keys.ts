/** `keys`: a client's super user lists, creates and deletes the API keys of the client. */

import { z } from 'zod';
import type { CancelJobs } from '../../access/cancel-jobs.ts';
import { cancelDetail } from '../../access/cancel-jobs.ts';
import { cancelJobs } from '../../access/routes/cancel-jobs.ts';
import type { CredentialRouteParts } from '../../access/routes/credentials.ts';
import { asSuperUser } from '../../access/routes/in-client.ts';
import { findReferencedTags } from '../../catalogue/find-referenced-tags.ts';
import { listApps } from '../../catalogue/list-apps.ts';
import { readTagGroups } from '../../catalogue/read-groups.ts';
import type { Sql } from '../../database/sql.ts';
import { KEY_SCOPES } from '../../domain/caller.ts';
import { ID_MAX, SOURCE_ID_LENGTH_MAX, TAGS_PER_REQUEST_MAX } from '../../domain/tag.ts';
import { created, listed, noContent, secret } from '../../http/answers.ts';
import { form } from '../../http/form-body.ts';
import type { Route } from '../../http/handler.ts';
import { id as idForm } from '../../http/id-form.ts';
import { rowsOf } from '../../http/list-answer.ts';
import { count, epochMs, id, orAbsent, word } from '../../http/openapi/parts.ts';
import { cursorFrom, LIMIT, pathId } from '../../http/parameters.ts';
import type { Fault } from '../../http/problem.ts';
import { done, refuse } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import { timeForm } from '../../http/time-form.ts';
import { isNameText, isStorable, NAME_FAULT, STORABLE_FAULT } from '../../std/name-text.ts';
import { measured, strictForm } from '../../std/strict-form.ts';
import { createKey } from '../keys.ts';
import { deleteKey } from '../sql/delete-key.ts';
import { listKeys } from '../sql/list-keys.ts';

const NAME = 'must have 1–255 characters';
const DEVICES = `must be 1–${ID_MAX}`;
/** @limit scopes that the body of a new key names → `400` */
const SCOPES_MAX = 32;
const SCOPE = `must be some of ${KEY_SCOPES.join(', ')}`;

/** An empty list is refused: its author meant neither no limits nor a key for nothing. */
const some = <T extends z.ZodType>(entry: T) =>
  measured(
    TAGS_PER_REQUEST_MAX,
    z
      .array(entry, 'must be an array')
      .min(1, 'names none; leave it out for no limit')
      .max(TAGS_PER_REQUEST_MAX),
  ).optional();

const text = z.string('must be a string').min(1, NAME).max(SOURCE_ID_LENGTH_MAX, NAME);
const sourceId = text.refine(isStorable, STORABLE_FAULT);

export const keyForm = strictForm({
  name: text.refine(isNameText, NAME_FAULT),
  scopes: measured(
    SCOPES_MAX,
    z.array(z.enum(KEY_SCOPES, SCOPE), SCOPE).min(1, SCOPE).max(SCOPES_MAX),
  ).meta({
    description:
      '`send`: submits pushes, and changes and controls push jobs. `read`: reads them, tags, groups, apps, statistics, operations. `admin`: changes tags, groups, apps, devices, operations, and reads the audit log. `personal`: its pushes may test attributes that are personal; it is of use beside `send`. `override`: its pushes may ignore the caps of a category; it is of use beside `send`, too. None includes another. Each request says which one it takes.',
  }),
  tagIds: some(idForm).meta({ description: 'For these tags only. All four lists count together.' }),
  tagSourceIds: some(sourceId).meta({ description: 'By their sourceIds. Kept as ids.' }),
  groupIds: some(idForm).meta({ description: 'For the tags in these groups and below only.' }),
  groupSourceIds: some(sourceId).meta({ description: 'By their sourceIds. Kept as ids.' }),
  appIds: some(idForm).meta({ description: 'For these apps only.' }),
  maxDevices: z
    .int(DEVICES)
    .min(1, DEVICES)
    .max(ID_MAX, DEVICES)
    .optional()
    .meta({ description: 'A push that is for more, when it is accepted, is `403`.' }),
  expiresAt: timeForm.refine(
    (timeMs) => timeMs === null || timeMs > Date.now(),
    'must not be in the past.',
  ),
});
const ABOUT_LIMITS = `One for each system that pushes, so that one that leaks is taken away alone. A client may have 1,000.

What is outside of a key's scopes or limits is \`403\`:

- A push is within a limit to tags when each of its target tags is covered, or one of its filter tags; of an expression, when each alternative requires a covered one. A name that nobody knows is not. Without \`appIds\` a push is for the apps of its key. What a limit names and is gone, as a deleted app, tag or group, covers nothing; a push of a key of which nothing is left is \`403\`.
- A key with a limit to tags, groups or apps sees and controls its own jobs and operations only: \`404\` for others.
- Statistics of a tag are of all apps: \`403\` for a key that is limited to apps. Those of an app are of all tags: \`403\` for a key that is limited to tags or groups, or to other apps. Removals are of all tags: \`403\` for each of these.
- It reads the tags and groups that it is for: lists have no others. A key that is limited to apps reads tags that are for one of them, and all groups.
- With the scope \`admin\` it changes what it is for, and nothing else. What it makes or moves goes into its groups, so a key of tags alone makes and moves none. A key that is limited to apps changes tags that are for no other app; what it makes without \`appIds\` is for its apps; it changes no groups. Else \`403\`, which names the entry, and nothing of the request happens.

Make a limited key with \`admin\` when every node runs this version: the one before takes it for a key without limits.`;

type KeyRequest = z.infer<typeof keyForm>;

const rights = {
  id,
  name: z.string(),
  userName: z.string(),
  scopes: z.array(word(KEY_SCOPES)),
  tagIds: orAbsent(z.array(id)),
  groupIds: orAbsent(z.array(id)),
  appIds: orAbsent(z.array(id)),
  maxDevices: orAbsent(count),
  expiresAt: orAbsent(epochMs),
};
const key = z
  .object({
    ...rights,
    createdAt: epochMs,
    lastUsedAt: orAbsent(epochMs.meta({ description: 'To within a minute.' })),
  })
  .meta({ id: 'Key' });
const newKey = z.object({ ...rights, token: z.string() }).meta({ id: 'NewKey' });
const KEY = { id: 1, name: 'CMS', userName: 'demo-key-4fX2pQ7sLw0a', scopes: ['send'] };

export interface KeyRouteParts extends CredentialRouteParts {
  readonly cancelJobs: CancelJobs;
}

const route = routesAt('/push-admin-api/v3/:client/keys', { api: 'admin', needs: 'super-user' });

export const keyRoutes = (parts: KeyRouteParts): readonly Route[] =>
  [listRoute, createRoute, deleteRoute].map((make) => make(parts));

const listRoute = ({ sql }: KeyRouteParts) =>
  route.get(
    'listKeys',
    {
      summary: 'List the further keys of the client',
      description: 'Without their tokens. Keys that have ended are among them.',
      query: { limit: LIMIT, cursor: cursorFrom([0]) },
      answer: listed('The keys, by id.', key, [{ ...KEY, createdAt: 1_795_392_000_000 }]),
    },
    ({ caller: { clientId }, query }) =>
      rowsOf(query, {
        read: ([afterId = 0], limit) => listKeys(sql, clientId, { afterId, limit }),
        keyOf: ({ id }) => [id],
      }),
  );

const createRoute = ({ sql, secrets }: KeyRouteParts) =>
  route.post(
    'createKey',
    {
      summary: 'Make a further key',
      description: ABOUT_LIMITS,
      body: form(keyForm, { name: 'CMS', scopes: ['send'] }),
      answer: secret(
        created('Made. Its token is shown this once; no cache may store it.', newKey, {
          ...KEY,
          token: 'tck_…',
        }),
      ),
    },
    asSuperUser(sql, async (tx, { clientId, record }, { caller: { clientSlug }, body }) => {
      const { faults, ...limits } = await resolveLimits(tx, clientId, body);
      if (faults.length > 0) return refuse.invalid(faults);
      const { name, expiresAt, maxDevices = null } = body;
      const scopes = KEY_SCOPES.filter((scope) => body.scopes.includes(scope));
      const asked = { scopes, ...limits, maxDevices };
      const owner = { clientId, clientSlug, name, expiresAtMs: expiresAt };
      const made = await createKey(tx, secrets, { ...owner, ...asked });
      if ('over' in made) return refuse.overLimit(made.over);
      const limitedBy = Object.entries({ ...limits, maxDevices })
        .filter(([, limit]) => limit !== null)
        .map(([field]) => field);
      const detail = { scopes, ...(limitedBy.length === 0 ? {} : { limitedBy }) };
      await record({ action: 'key.create', id: made.id, name, detail });
      return done({ ...made, name, ...asked, expiresAt });
    }),
  );

const deleteRoute = (parts: KeyRouteParts) =>
  route.delete(
    'deleteKey',
    {
      at: ':id',
      summary: 'Delete a key, at once',
      description:
        'It is refused within a second on every node. Its push jobs go on, unless `cancelJobs` is `true`. The operations that it has started go on: cancel them if the key leaked.',
      path: { id: pathId('key', KEY.id) },
      query: { cancelJobs },
      answer: noContent('Deleted, and its jobs cancelled where that was asked for.'),
    },
    async (asked) => {
      const { id } = asked.path;
      const remove = asSuperUser(parts.sql, async (tx, { clientId, record }) => {
        const gone = await deleteKey(tx, clientId, id);
        if (gone === null) return refuse.unknown('key');
        const { name } = gone;
        await record({ action: 'key.delete', id, name, ...cancelDetail(asked.query) });
        return done(gone);
      });
      const removed = await remove(asked);
      if (!removed.ok) return removed;
      if (asked.query.cancelJobs) {
        await parts.cancelJobs(asked.caller.clientId, removed.value.userName);
      }
      return done(null);
    },
  );

interface Limits {
  readonly tagIds: readonly number[] | null;
  readonly groupIds: readonly number[] | null;
  readonly appIds: readonly number[] | null;
  readonly faults: readonly Fault[];
}

/** Resolves limits to ids: a sourceId may go to another tag later, the key stays with this one. */
async function resolveLimits(sql: Sql, clientId: number, asked: KeyRequest): Promise<Limits> {
  const { tagIds, tagSourceIds, groupIds, groupSourceIds, appIds } = asked;
  const tags = await findReferencedTags(sql, clientId, {
    ids: tagIds ?? [],
    sourceIds: tagSourceIds ?? [],
  });
  const groups = groupIds || groupSourceIds ? await readTagGroups(sql, clientId) : [];
  const apps = appIds ? await listApps(sql, clientId) : [];
  const faults: Fault[] = [];
  const idsOf = (
    known: readonly { readonly id: number; readonly sourceId?: string | null }[],
    named: readonly (readonly [field: string, names: readonly (number | string)[] | undefined])[],
  ): readonly number[] | null => {
    if (named.every(([, names]) => names === undefined)) return null;
    const byName = new Map<unknown, number>();
    for (const { id: known_, sourceId } of known) {
      byName.set(known_, known_);
      if (sourceId) byName.set(sourceId, known_);
    }
    const ids = named.flatMap(([field, names = []]) =>
      names.flatMap((name, index) => {
        const found = byName.get(name);
        if (found !== undefined) return [found];
        faults.push({ path: `${field}.${index}`, message: 'names none of this client' });
        return [];
      }),
    );
    return [...new Set(ids)];
  };
  return {
    tagIds: idsOf(tags, [
      ['tagIds', tagIds],
      ['tagSourceIds', tagSourceIds],
    ]),
    groupIds: idsOf(groups, [
      ['groupIds', groupIds],
      ['groupSourceIds', groupSourceIds],
    ]),
    appIds: idsOf(apps, [['appIds', appIds]]),
    faults,
  };
}
