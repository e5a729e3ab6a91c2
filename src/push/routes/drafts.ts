/** `drafts`: notifications that members of a client compose, named, and shared among them. */

import { z } from 'zod';
import type { JsonObject } from '../../../packages/std/src/json.ts';
import { isObject } from '../../../packages/std/src/json.ts';
import { inClientUnless } from '../../access/routes/in-client.ts';
import type { SqlPool } from '../../database/sql.ts';
import { changedFields } from '../../domain/audit.ts';
import type { Caller } from '../../domain/caller.ts';
import { isLimited } from '../../domain/caller.ts';
import { created, noContent, shown } from '../../http/answers.ts';
import { form } from '../../http/form-body.ts';
import type { Route } from '../../http/handler.ts';
import { count, epochMs, id } from '../../http/openapi/parts.ts';
import { pathId } from '../../http/parameters.ts';
import { outsideOfLimits } from '../../http/permission.ts';
import { done, refuse, refused } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import { shownUserName } from '../../http/user-name.ts';
import { isNestedWithin } from '../../std/nesting.ts';
import { strictForm } from '../../std/strict-form.ts';
import type { Draft, DraftTerms, ListedDraft } from '../sql/drafts.ts';
import {
  changeDraft,
  countDrafts,
  deleteDraft,
  findDraft,
  insertDraft,
  listDrafts,
} from '../sql/drafts.ts';
import { objectName } from './object-name.ts';

/** @publisherLimit drafts of a client → `403` */
const DRAFTS_MAX = 200;
/** @publisherLimit characters of the content of a draft, as JSON → `400` */
const CONTENT_LENGTH_MAX = 65_536;

/** @publisherLimit nesting of the content of a draft → `400` */
const CONTENT_DEPTH_MAX = 32;

const CONTENT_FAULT = `must be an object of at most ${CONTENT_LENGTH_MAX} characters as JSON`;
const content = z
  .custom<JsonObject>(isObject, CONTENT_FAULT)
  // First: what is nested too deeply cannot be written as JSON again.
  .refine((value) => isNestedWithin(value, CONTENT_DEPTH_MAX), {
    error: `must have ${CONTENT_DEPTH_MAX} levels at most`,
    abort: true,
  })
  .refine((value) => JSON.stringify(value).length <= CONTENT_LENGTH_MAX, CONTENT_FAULT)
  .meta({
    type: 'object',
    additionalProperties: {},
    description: 'What its author composes with keeps here what it likes. It is returned as it is.',
  });
const revision = count.meta({ description: 'Raised by each change.' });

const listedDraft = z
  .object({
    id,
    name: z.string(),
    userName: z.string().meta({ description: 'Who saved it last.' }),
    revision,
    createdAt: epochMs,
    updatedAt: epochMs,
  })
  .meta({ id: 'ListedDraft' });
const draft = z
  .object({ ...listedDraft.shape, content: z.custom<JsonObject>().meta(content.meta() ?? {}) })
  .meta({ id: 'Draft' });

const TERMS = { name: 'Final whistle', content: { title: 'Goal!', message: '2:1' } };
const LISTED = {
  id: 1,
  name: TERMS.name,
  userName: 'demo-super',
  revision: 1,
  createdAt: 1_795_392_000_000,
  updatedAt: 1_795_392_000_000,
};
const DRAFT = { ...LISTED, content: TERMS.content };

const route = routesAt('/push-api/v3/:client/drafts', { api: 'notification', needs: 'send' });
const path = { id: pathId('draft', 1) };
const NO_DRAFT = refuse.unknown('draft');
const TOO_MANY = refused(403, `A client may have ${DRAFTS_MAX} drafts. Discard some first.`);
/** Changes of another member must not be lost. */
const changedMeanwhile = (caller: Caller, { userName }: Draft) =>
  refused(
    409,
    `${shownUserName(caller, userName)} has changed this draft meanwhile. Read it again.`,
  );

export const draftRoutes = (sql: SqlPool): readonly Route[] =>
  [listRoute, createRoute, getRoute, changeRoute, deleteRoute].map((make) => make(sql));

const listRoute = (sql: SqlPool) =>
  route.get(
    'listDrafts',
    {
      summary: 'List the drafts of the client',
      description:
        'Those that were changed last first, without their content. A key with limits: `403`.',
      answer: shown('The drafts.', z.array(listedDraft), [LISTED]),
    },
    async ({ caller }) => {
      if (isLimited(caller)) return refuse.outside();
      const drafts = await listDrafts(sql, caller.clientId);
      return done(drafts.map((one) => shownTo(caller, one)));
    },
  );

const createRoute = (sql: SqlPool) =>
  route.post(
    'saveDraft',
    {
      summary: 'Save a draft',
      description: `All who may send see it, change it and discard it. A client may have ${DRAFTS_MAX}. A key with limits: \`403\`.`,
      body: form(strictForm({ name: objectName, content }), TERMS, isKept),
      answer: created('Saved.', draft, DRAFT),
    },
    inClientUnless(sql, outsideOfLimits, async (tx, { clientId, record }, { caller, body }) => {
      if ((await countDrafts(tx, clientId)) >= DRAFTS_MAX) return TOO_MANY;
      const saved = await insertDraft(tx, clientId, { ...body, userName: caller.userName });
      await record({ action: 'draft.create', id: saved.id, name: saved.name });
      return done(saved);
    }),
  );

const getRoute = (sql: SqlPool) =>
  route.get(
    'getDraft',
    {
      at: ':id',
      summary: 'One draft',
      path,
      answer: shown('The draft, with its content.', draft, DRAFT),
    },
    async ({ caller, path: { id } }) => {
      if (isLimited(caller)) return refuse.outside();
      const found = await findDraft(sql, caller.clientId, id);
      return found === null ? NO_DRAFT : done(shownTo(caller, found));
    },
  );

const changeRoute = (sql: SqlPool) =>
  route.patch(
    'changeDraft',
    {
      at: ':id',
      summary: 'Change a draft',
      description:
        'What is absent stays. `revision` is the one that the change was made of: `409` when somebody else has changed it since.',
      path,
      body: form(
        strictForm({
          name: objectName.optional(),
          content: content.optional(),
          revision: z.int('must be a whole number').min(1).meta({ description: 'As it was read.' }),
        }),
        { name: 'Final whistle!', revision: 1 },
        isKept,
      ),
      answer: shown('Changed.', draft, { ...DRAFT, name: 'Final whistle!', revision: 2 }),
      problems: [409],
    },
    inClientUnless(
      sql,
      outsideOfLimits,
      async (tx, { clientId, record }, { caller, path: { id }, body }) => {
        const before = await findDraft(tx, clientId, id);
        if (before === null) return NO_DRAFT;
        if (body.revision !== before.revision) return changedMeanwhile(caller, before);
        const { name = before.name, content: after = before.content } = body;
        const terms: DraftTerms = { name, content: after, userName: caller.userName };
        const fields = changedFields(
          { name: before.name, content: before.content },
          { name, content: after },
        );
        if (fields.length === 0) return done(shownTo(caller, before));
        await record({ action: 'draft.change', id, name, detail: { fields } });
        return done(await changeDraft(tx, id, terms));
      },
    ),
  );

const deleteRoute = (sql: SqlPool) =>
  route.delete(
    'discardDraft',
    {
      at: ':id',
      summary: 'Discard a draft',
      path,
      answer: noContent('Discarded.'),
    },
    inClientUnless(sql, outsideOfLimits, async (tx, { clientId, record }, { path: { id } }) => {
      const found = await findDraft(tx, clientId, id);
      if (found === null) return NO_DRAFT;
      await deleteDraft(tx, id);
      await record({ action: 'draft.delete', id, name: found.name });
      return done(null);
    }),
  );

const shownTo = <One extends ListedDraft>(caller: Caller, one: One): One => ({
  ...one,
  userName: shownUserName(caller, one.userName),
});

/** The content is returned: its numbers are kept as they were written, or refused. */
function isKept([field]: readonly (string | number)[]): boolean {
  return field === 'content';
}
