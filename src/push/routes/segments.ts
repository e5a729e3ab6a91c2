/** `segments`: named expressions that pushes of a client use as `$name`. */

import { z } from 'zod';
import { inClientUnless } from '../../access/routes/in-client.ts';
import type { Sql, SqlPool } from '../../database/sql.ts';
import type { AudienceExpression } from '../../domain/audience-expression.ts';
import {
  readExpression,
  segmentsOf,
  TESTING_LENGTH_MAX,
} from '../../domain/audience-expression.ts';
import { changedFields } from '../../domain/audit.ts';
import type { Caller } from '../../domain/caller.ts';
import { isLimited } from '../../domain/caller.ts';
import { created, noContent, shown } from '../../http/answers.ts';
import { form } from '../../http/form-body.ts';
import type { Route } from '../../http/handler.ts';
import { epochMs } from '../../http/openapi/parts.ts';
import type { PathParameter } from '../../http/parameters.ts';
import { outsideOfLimits } from '../../http/permission.ts';
import type { Refusal } from '../../http/result.ts';
import { done, refuse, refused } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import { isStorable } from '../../std/name-text.ts';
import { strictForm } from '../../std/strict-form.ts';
import { expandSegments } from '../accept/expand-segments.ts';
import { segmentFaults } from '../accept/segment-faults.ts';
import type { Segment } from '../sql/segments.ts';
import {
  changeSegment,
  countSegments,
  deleteSegment,
  findSegment,
  insertSegment,
  listSegments,
} from '../sql/segments.ts';
import { objectName } from './object-name.ts';
import type { PreviewParts } from './preview.ts';
import { countedPush, ESTIMATE, estimate, estimateOf } from './preview.ts';
import type { AskedPush } from './push-request.ts';
import { pushTo } from './push-request.ts';

/** @publisherLimit segments of a client → `409` */
const SEGMENTS_MAX = 500;
/** @publisherLimit characters of the description of a segment → `400` */
const DESCRIPTION_LENGTH_MAX = 1_024;

const EXPRESSION_FAULT = `must be an expression: a string of 1–${TESTING_LENGTH_MAX} characters, without NUL`;
const expression = z
  .string(EXPRESSION_FAULT)
  .min(1, EXPRESSION_FAULT)
  .max(TESTING_LENGTH_MAX, EXPRESSION_FAULT)
  .refine(isStorable, EXPRESSION_FAULT)
  .meta({
    description:
      'As `audience` of a push. It may be one that only narrows, as `@country = CH`: a push then names a tag or `*` beside it. It may name other segments, up to 5 deep.',
  });
const description = z
  .string('must be a string')
  .max(DESCRIPTION_LENGTH_MAX, `must have ${DESCRIPTION_LENGTH_MAX} characters at most`)
  .refine(isStorable, 'must not have NUL')
  .nullable();

const segment = z
  .object({
    name: z.string(),
    expression: z.string(),
    description: z.string().nullable(),
    createdAt: epochMs,
    updatedAt: epochMs,
  })
  .meta({ id: 'Segment' });
const TERMS = {
  name: 'swiss-german',
  expression: '@country = CH && @language = de',
  description: 'Readers in Switzerland who read German.',
};
const SEGMENT = { ...TERMS, createdAt: 1_795_392_000_000, updatedAt: 1_795_392_000_000 };

const NO_SEGMENT = refused(404, 'This client has no segment with this name.');
const name: PathParameter<string> = {
  description: 'The name of the segment.',
  schema: z.string(),
  example: TERMS.name,
  read: (text) => (isStorable(text) ? text : null),
  unknown: NO_SEGMENT,
};
const path = { name };
const TOO_MANY = refused(409, `A client may have ${SEGMENTS_MAX} segments. Delete some first.`);

const PATH = '/push-admin-api/v3/:client/segments';
const reads = routesAt(PATH, { api: 'admin', needs: 'read' });
const changes = routesAt(PATH, { api: 'admin', needs: 'admin' });
const sends = routesAt(PATH, { api: 'admin', needs: 'send' });

export const segmentRoutes = (parts: PreviewParts): readonly Route[] => [
  listRoute(parts.sql),
  createRoute(parts.sql),
  getRoute(parts.sql),
  changeRoute(parts.sql),
  estimateRoute(parts),
  deleteRoute(parts.sql),
];

const listRoute = (sql: SqlPool) =>
  reads.get(
    'listSegments',
    {
      summary: 'List the segments of the client',
      description: 'By their names. A key with limits: `403`.',
      answer: shown('The segments.', z.array(segment), [SEGMENT]),
    },
    async ({ caller }) =>
      isLimited(caller) ? refuse.outside() : done(await listSegments(sql, caller.clientId)),
  );

const createRoute = (sql: SqlPool) =>
  changes.post(
    'createSegment',
    {
      summary: 'Make a segment',
      description: `A name for an expression, which pushes use as \`$name\`. It is looked up when a push is accepted: the job keeps the expression as it was then. What is wrong with the expression is \`400\` with its \`position\`. A client may have ${SEGMENTS_MAX}. A key with limits: \`403\`.`,
      body: form(
        strictForm({ name: objectName, expression, description: description.optional() }),
        TERMS,
      ),
      answer: created('Made.', segment, SEGMENT),
      problems: [400, 409],
    },
    inClientUnless(sql, outsideOfLimits, async (tx, { clientId, record }, { caller, body }) => {
      const faulty = await whyFaulty(tx, caller, body.name, body.expression);
      if (faulty !== null) return faulty;
      if ((await countSegments(tx, clientId)) >= SEGMENTS_MAX) return TOO_MANY;
      const terms = { ...body, description: body.description ?? null };
      const made = await insertSegment(tx, clientId, terms);
      if (made === null) return refused(409, 'There is a segment of this name.');
      await record({ action: 'segment.create', id: made.name, name: made.name });
      return done(made);
    }),
  );

const getRoute = (sql: SqlPool) =>
  reads.get(
    'getSegment',
    {
      at: ':name',
      summary: 'One segment',
      path,
      answer: shown('The segment.', segment, SEGMENT),
    },
    async ({ caller, path: { name } }) => {
      if (isLimited(caller)) return refuse.outside();
      const found = await findSegment(sql, caller.clientId, name);
      return found === null ? NO_SEGMENT : done(found);
    },
  );

const changeRoute = (sql: SqlPool) =>
  changes.patch(
    'changeSegment',
    {
      at: ':name',
      summary: 'Change a segment',
      description:
        'What is absent stays. Jobs that were accepted keep the expression that they have. The name stays: pushes use it.',
      path,
      body: form(
        strictForm({ expression: expression.optional(), description: description.optional() }),
        { expression: '@country = CH && @language = de && @appVersion >= 5.2' },
      ),
      answer: shown('Changed.', segment, SEGMENT),
      problems: [400],
    },
    inClientUnless(
      sql,
      outsideOfLimits,
      async (tx, { clientId, record }, { caller, path: { name }, body }) => {
        const before = await findSegment(tx, clientId, name);
        if (before === null) return NO_SEGMENT;
        const faulty =
          body.expression === undefined ? null : await whyFaulty(tx, caller, name, body.expression);
        if (faulty !== null) return faulty;
        const terms = {
          expression: body.expression ?? before.expression,
          description: body.description === undefined ? before.description : body.description,
        };
        const { expression, description } = before;
        const fields = changedFields({ expression, description }, terms);
        if (fields.length === 0) return done(before);
        await record({ action: 'segment.change', id: name, name, detail: { fields } });
        return done(await changeSegment(tx, clientId, name, terms));
      },
    ),
  );

const deleteRoute = (sql: SqlPool) =>
  changes.delete(
    'deleteSegment',
    {
      at: ':name',
      summary: 'Delete a segment',
      description: 'One that another segment names: `409`, which says which.',
      path,
      answer: noContent('Deleted.'),
      problems: [409],
    },
    inClientUnless(sql, outsideOfLimits, async (tx, { clientId, record }, { path: { name } }) => {
      const all = await listSegments(tx, clientId);
      if (!all.some((one) => one.name === name)) return NO_SEGMENT;
      const user = all.find((one) => namesSegment(one, name));
      if (user !== undefined) {
        return refused(409, `The segment ${JSON.stringify(user.name)} names this one.`);
      }
      await deleteSegment(tx, clientId, name);
      await record({ action: 'segment.delete', id: name, name });
      return done(null);
    }),
  );

const estimateRoute = (parts: PreviewParts) =>
  sends.post(
    'estimateSegment',
    {
      at: ':name/estimate',
      summary: 'Count the devices of a segment',
      description:
        'As `estimate` of a push does. One that only narrows is counted among all devices with a subscription.',
      path,
      answer: shown('Devices of each app and platform, and the plan in words.', estimate, ESTIMATE),
      problems: [400],
    },
    async (asked) => {
      const { caller } = asked;
      if (isLimited(caller)) return refuse.outside();
      const found = await findSegment(parts.sql, caller.clientId, asked.path.name);
      if (found === null) return NO_SEGMENT;
      const body = await audienceOf(parts.sql, caller, found);
      const counted = await countedPush(parts, { ...asked, body }, { showsWithheld: false });
      if (!counted.ok) return counted;
      // A segment is of no category.
      return done(estimateOf(counted.value));
    },
  );

/** Those that it has, or if it only narrows, those of everybody. */
async function audienceOf(sql: Sql, { clientId }: Caller, { name }: Segment): Promise<AskedPush> {
  const alone = expressionOf(`$${JSON.stringify(name)}`);
  const expanded = await expandSegments(alone, { sql, clientId, tellsNames: true });
  const asked = expanded.ok ? alone : expressionOf(`* && ${alone.text}`);
  return { push: pushTo(asked), isDryRun: true, isApproximate: false };
}

function expressionOf(text: string): AudienceExpression {
  const read = readExpression(text);
  if (!read.ok) throw new Error(read.fault.message);
  return read.expression;
}

const namesSegment = ({ expression }: Segment, name: string): boolean => {
  const read = readExpression(expression, { isSegment: true });
  return read.ok && segmentsOf(read.expression.root).some(({ segment }) => segment === name);
};

/** Null: pushes may use it. */
async function whyFaulty(
  tx: Sql,
  { clientId }: Caller,
  name: string,
  text: string,
): Promise<Refusal | null> {
  const faults = await segmentFaults(tx, clientId, name, text);
  return faults.length === 0 ? null : refuse.invalid(faults);
}
