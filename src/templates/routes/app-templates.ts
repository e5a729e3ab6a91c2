/**
 * `apps/<id>/platforms/<platformId>/template`: put, checked on a sample, tried out, seen, taken
 * away; `templates`: which there are.
 */

import { z } from 'zod';
import type { PlatformId } from '../../../packages/std/src/platforms.ts';
import { inClient } from '../../access/routes/in-client.ts';
import { isNotOn, onScope, SCOPE_PATH } from '../../catalogue/routes/app-on-platform.ts';
import { findAppName } from '../../clients/find-app.ts';
import type { Sql, SqlPool } from '../../database/sql.ts';
import { isForTags } from '../../domain/caller.ts';
import type { Scope } from '../../domain/device.ts';
import { scopeKeyOf } from '../../domain/device.ts';
import type { Payload } from '../../domain/notification.ts';
import { givenPayload } from '../../domain/payload.ts';
import { isPassedOnIn } from '../../domain/payload-digits.ts';
import { withReplaceableDefault } from '../../domain/replaceable.ts';
import { TEMPLATE_LENGTH_MAX } from '../../domain/template.ts';
import { listed, noContent, shown } from '../../http/answers.ts';
import { form } from '../../http/form-body.ts';
import type { Route } from '../../http/handler.ts';
import { rowsOf } from '../../http/list-answer.ts';
import { count, epochMs, id, platformId } from '../../http/openapi/parts.ts';
import { cursorFrom, LIMIT } from '../../http/parameters.ts';
import type { Result } from '../../http/result.ts';
import { done, refuse } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import { isStorable } from '../../std/name-text.ts';
import { strictForm } from '../../std/strict-form.ts';
import { applyTemplates } from '../apply-templates.ts';
import type { Evaluator } from '../evaluator.ts';
import { deleteTemplate, listTemplatesPage, readTemplate, writeTemplate } from '../templates.ts';
import { renderedFor, renderedLanguage } from './rendered.ts';

export interface AppTemplateParts {
  readonly sql: SqlPool;
  readonly evaluator: Evaluator;
  /** Whether a message is replaceable on the device whose payload does not say. */
  readonly replaceableDefault: boolean;
}

const EXPRESSION = `must be a JSONata expression: a string of 1–${TEMPLATE_LENGTH_MAX} characters, without NUL`;

const templateForm = strictForm({
  expression: z
    .string(EXPRESSION)
    .min(1, EXPRESSION)
    .max(TEMPLATE_LENGTH_MAX, EXPRESSION)
    .refine(isStorable, EXPRESSION),
  sample: z
    .unknown()
    .optional()
    .meta({ description: 'A payload as pushes will bring it, to try the template out.' }),
});

const template = z.object({
  platformId,
  hasTemplate: z.boolean(),
  expression: z.string().optional().meta({ description: 'JSONata.' }),
  updatedAt: epochMs.optional(),
});
const trial = z
  .object({
    provider: z.string(),
    sizeBytes: count,
    sizeBytesMax: count,
    message: z.unknown().meta({ description: 'What the provider would get.' }),
    languages: z.array(renderedLanguage).optional(),
  })
  .optional()
  .meta({ description: 'What it makes of the sample.' });
const tried = template.extend({ trial });
const listedTemplate = z.object({ appId: id, platformId, updatedAt: epochMs });
const TEMPLATE = {
  platformId: 3,
  hasTemplate: true,
  expression: '{ "title": home & " – " & away, "message": $string(score) }',
  updatedAt: 1_795_392_000_000,
};
const SAMPLE = { home: 'FCB', away: 'BVB', score: '1:0' };

const ABOUT = `A [JSONata](https://docs.jsonata.org) expression that turns the payload of each new push into what this app gets on this platform. A syntax error is \`400\` with its \`position\`. If it fails on the \`sample\`, it is \`400\` too. Then nothing is stored.

- It is given the payload as the publisher wrote it, whatever its fields are, and makes an object in the form of a payload: fields such as \`title\`, or the part for its provider alone. It may make texts in several languages. The limit of size counts for what it made.
- It is evaluated once for a push, when that is accepted, not for each device. The job keeps what it made: retries, other nodes, and a template that is changed or deleted later send the same.
- An app and platform without a template gets the payload as ever. So a payload that is not in the common form is accepted only where every app and platform of the push has a template.
- If it fails, the push is \`400\`, and so are its dry run, its preview and a try: with the app, the platform, the position and the error.
- A push may concern 300 templates, and what they make, with the payload and its languages, may be 262,144 bytes of JSON together. All of them together have 1,000 ms of a processor, each 64 MiB of memory, and each makes at most 65,536 characters of JSON. A file, the network, or another push's data is out of their reach. The functions of JSONata are there except \`$base64encode\` and \`$base64decode\`.
- Where too much is evaluated at once, or the machine is so busy that they do not get that time within 10 s: \`503\` with \`Retry-After\`.

Put templates when every node runs a version that knows them: others send the payload as it was given. Who may not change an app may not change its templates.`;

const PATH = '/push-admin-api/v3/:client/apps/:id/platforms/:platform/template';
const path = SCOPE_PATH;
const admin = { api: 'admin', needs: 'admin' } as const;

export const appTemplateRoutes = (parts: AppTemplateParts): readonly Route[] =>
  [listRoute, getRoute, putRoute, previewRoute, deleteRoute].map((make) => make(parts));

const listRoute = ({ sql }: AppTemplateParts) =>
  routesAt('/push-admin-api/v3/:client/templates', { api: 'admin', needs: 'read' }).get(
    'listTemplates',
    {
      summary: 'List the templates of the client, by app and platform',
      description: 'A key that is limited to apps sees those of these.',
      query: { limit: LIMIT, cursor: cursorFrom([0, 0], '1.3') },
      answer: listed('The templates, without their expressions.', listedTemplate, [
        { appId: 1, platformId: 3, updatedAt: TEMPLATE.updatedAt },
      ]),
    },
    ({ caller, query }) => {
      if (isForTags(caller)) return refuse.outside();
      const appIds = caller.key?.appIds ?? null;
      return rowsOf(query, {
        read: ([appId = 0, platformId = 0], limit) =>
          listTemplatesPage(sql, caller.clientId, { appIds, after: { appId, platformId }, limit }),
        keyOf: ({ appId, platformId }) => [appId, platformId],
      });
    },
  );

const getRoute = ({ sql }: AppTemplateParts) =>
  routesAt(PATH, { api: 'admin', needs: 'read' }).get(
    'getTemplate',
    {
      summary: 'The template of an app on a platform',
      path,
      answer: shown('What is there.', template, TEMPLATE),
    },
    onScope(sql, async (scope) => done(await templateOf(sql, scope))),
  );

const putRoute = ({ sql, ...trials }: AppTemplateParts) =>
  routesAt(PATH, { ...admin, isForSuccessor: true }).put(
    'putTemplate',
    {
      summary: 'Put a template, and try it out',
      description: ABOUT,
      path,
      body: form(
        templateForm,
        {
          expression: TEMPLATE.expression,
          sample: SAMPLE,
        },
        isPassedOnIn('sample'),
      ),
      answer: shown('Stored.', tried, TEMPLATE),
    },
    onScope(sql, async (scope, asked) => {
      const { expression, sample } = asked.body;
      const trial = await tryOut(trials, asked.caller.clientId, { ...scope, expression }, sample);
      if (!trial.ok) return trial;
      const put = inClient(sql, async (tx, { clientId, record }) => {
        // It may have been deleted since.
        if (!(await writeTemplate(tx, scope, expression))) return isNotOn([]);
        await record({ action: 'template.put', ...(await objectOf(tx, clientId, scope)) });
        return done(await templateOf(tx, scope));
      });
      const written = await put(asked);
      return written.ok ? done({ ...written.value, ...trialShown(scope, trial.value) }) : written;
    }),
  );

const previewRoute = ({ sql, ...trials }: AppTemplateParts) =>
  routesAt(PATH, admin).post(
    'previewTemplate',
    {
      at: 'preview',
      summary: 'Try a template out, without storing it',
      description: 'Its faults are those of `putTemplate`.',
      path,
      body: form(
        templateForm,
        { expression: TEMPLATE.expression, sample: SAMPLE },
        isPassedOnIn('sample'),
      ),
      answer: shown('It has no fault.', z.object({ trial }), {}),
    },
    onScope(sql, async (scope, { caller, body: { expression, sample } }) => {
      const made = await tryOut(trials, caller.clientId, { ...scope, expression }, sample);
      return made.ok ? done(trialShown(scope, made.value)) : made;
    }),
  );

const deleteRoute = ({ sql }: AppTemplateParts) =>
  routesAt(PATH, admin).delete(
    'deleteTemplate',
    { summary: 'Delete a template', path, answer: noContent('Deleted.') },
    onScope(sql, (scope, asked) => {
      const remove = inClient(sql, async (tx, { clientId, record }) => {
        if (await deleteTemplate(tx, scope)) {
          await record({ action: 'template.delete', ...(await objectOf(tx, clientId, scope)) });
        }
        return done(null);
      });
      return remove(asked);
    }),
  );

/** Stored only if its form is right and it makes a message of the sample. Null: there is none. */
async function tryOut(
  { evaluator, replaceableDefault }: Omit<AppTemplateParts, 'sql'>,
  clientId: number,
  template: Scope<PlatformId> & { readonly expression: string },
  sample: unknown,
): Promise<Result<Payload | null>> {
  const checked = await evaluator.check(clientId, template.expression);
  if (checked.kind === 'busy') return refuse.tooManyTemplates;
  const [result] = checked.results;
  if (result?.ok === false) {
    const { why, ...where } = result.fault;
    const message = `is not a JSONata expression: ${why}`;
    return refuse.invalid([{ path: 'expression', message, ...where }]);
  }
  if (sample === undefined) return done(null);
  const given = givenPayload(sample);
  if (!given.ok) return refuse.invalid(atSample(given.faults));
  const applied = await applyTemplates(evaluator, clientId, given.given, [template]);
  switch (applied.kind) {
    case 'busy':
      return refuse.tooManyTemplates;
    case 'invalid':
      return refuse.invalid(atSample(applied.faults));
    case 'made': {
      const made = applied.payloads[scopeKeyOf(template)];
      return done(made === undefined ? null : withReplaceableDefault(made, replaceableDefault));
    }
  }
}

const atSample = (faults: readonly { readonly message: string }[]) =>
  faults.map(({ message }) => ({ path: 'sample', message }));

const trialShown = ({ platformId }: Scope<PlatformId>, payload: Payload | null) =>
  payload === null
    ? {}
    : { trial: renderedFor(platformId, { payload, dueAtMs: Date.now(), expiresAtMs: null }) };

async function templateOf(sql: Sql, { appId, platformId }: Scope) {
  const template = await readTemplate(sql, { appId, platformId });
  return { platformId, hasTemplate: template !== null, ...template };
}

/** The template's name in the audit log. */
const objectOf = async (tx: Sql, clientId: number, { appId, platformId }: Scope) => ({
  id: `${appId}/${platformId}`,
  name: await findAppName(tx, clientId, appId),
});
