/** `POST …/notifications/preview` and `…/estimate`: a push and its audience; nothing is sent. */

import { z } from 'zod';
import type { SqlPool } from '../../database/sql.ts';
import type { Caller } from '../../domain/caller.ts';
import { shown } from '../../http/answers.ts';
import type { Route } from '../../http/handler.ts';
import { count, id, platformId, scopeCount } from '../../http/openapi/parts.ts';
import type { Result } from '../../http/result.ts';
import { done, refuse, refused } from '../../http/result.ts';
import type { Asked } from '../../http/route.ts';
import { PROVIDERS } from '../../providers/providers.ts';
import { renderedLanguage } from '../../templates/routes/rendered.ts';
import type { Accept } from '../accept/accept.ts';
import type { Push } from '../accept/push.ts';
import { warningsOf } from '../accept/warnings.ts';
import { withheldObject } from './counts.ts';
import { expandPush } from './expand-push.ts';
import { holdToPolicies } from './hold-to-policies.ts';
import { sends } from './job.ts';
import { limitPush } from './limit-push.ts';
import { planOf } from './plan-in-words.ts';
import { endFaults, shownUnknown, shownWarnings } from './push.ts';
import type { AskedPush } from './push-request.ts';
import {
  audienceBody,
  pushBody,
  unknownTags,
  unknownValues,
  warnings,
  withheld,
  withoutValue,
} from './push-schemas.ts';
import type { Counted } from './renderings.ts';
import { previewOf } from './renderings.ts';

/**
 * At most 131,072 devices, which the database reads in some tenths of a second.
 * @limit device groups of each (app, platform) that an approximate estimate looks at → it concludes
 * from them
 */
const SAMPLED_GROUPS_MAX = 16;

export interface PreviewParts {
  readonly accept: Accept;
  readonly sql: SqlPool;
}

const preview = z.object({
  preview: z.array(
    z.object({
      appId: id,
      platformId,
      provider: z.string(),
      count,
      templated: z.literal(true).optional().meta({ description: 'A template made it.' }),
      sizeBytes: count,
      sizeBytesMax: count,
      message: z.unknown().meta({
        description:
          'What the provider would get, without what names the device; zeros stand for the id of the job. For browsers it is what is encrypted.',
      }),
      languages: z.array(renderedLanguage).optional().meta({
        description: 'The message for devices with a tag of a language, or with a language.',
      }),
      alsoFor: z
        .array(scopeCount)
        .optional()
        .meta({ description: 'Other apps whose devices would get the same.' }),
    }),
  ),
  notShown: z.array(scopeCount).optional().meta({
    description: 'Apps whose messages the answer has no room for: name them in `appIds`.',
  }),
  unknownTags,
  unknownValues,
  withoutValue,
  warnings,
});
const PREVIEW = {
  preview: [
    {
      appId: 1,
      platformId: 3,
      provider: PROVIDERS[3].name,
      count: 1,
      sizeBytes: 106,
      sizeBytesMax: 4096,
      message: { aps: { alert: { title: 'goal!', body: '1:0' } } },
    },
  ],
  unknownTags: [],
};
export const estimate = z.object({
  audience: z.array(scopeCount),
  plan: z.array(z.string()),
  unknownTags,
  unknownValues,
  withoutValue,
  ...withheld,
  approximate: z
    .literal(true)
    .optional()
    .meta({ description: 'The counts were concluded from a sample.' }),
});

export const ESTIMATE = {
  audience: [{ appId: 1, platformId: 3, count: 1 }],
  plan: ['Devices that have tag 2.', '1 device, each once.'],
  unknownTags: [],
};

/** The message of each (app, platform), its size and its audience. */
export const previewRoute = (parts: PreviewParts): Route =>
  sends.post(
    'previewNotification',
    {
      at: 'preview',
      summary: 'Show what a push would be on each platform',
      description:
        'Counts as a dry run does, and sends nothing. What several apps would get alike on a platform is shown once. Beyond 1,048,576 characters of messages, apps and platforms are in `notShown`.',
      body: pushBody,
      answer: shown(
        'Each different message, its size, and the apps, platforms and audiences that it is for.',
        preview,
        PREVIEW,
      ),
      problems: [400],
    },
    async (asked) => {
      const found = await countedPush(parts, asked, { showsWithheld: false });
      if (!found.ok) return found;
      const { push, counted } = found.value;
      return done({
        ...previewOf(push, counted),
        ...shownUnknown(counted),
        withoutValue: counted.withoutValue,
        ...shownWarnings(warningsOf(counted.audience, counted.payload, counted.templated)),
      });
    },
  );

/** The audience, and how it is found. */
export const estimateRoute = (parts: PreviewParts): Route =>
  sends.post(
    'estimateAudience',
    {
      at: 'estimate',
      summary: 'Count an audience, and explain how it is found',
      description:
        'Counts as a dry run does. The body has only the audience of a push, and its category. `withheldCount` has those of the audience whom caps would leave out now; with many devices it is concluded from a sample.',
      body: audienceBody,
      answer: shown('Devices of each app and platform, and the plan in words.', estimate, ESTIMATE),
      problems: [400],
    },
    async (asked) => {
      const found = await countedPush(parts, asked, { showsWithheld: true });
      return found.ok ? done(estimateOf(found.value)) : found;
    },
  );

interface CountedPush {
  readonly push: Push;
  readonly counted: Counted;
}

export function estimateOf({ push, counted }: CountedPush) {
  const { audience, withoutValue, isApproximate } = counted;
  const plan = planOf(push, counted);
  const approximate = isApproximate ? (true as const) : undefined;
  const held = withheldObject(counted.withheld ?? 0);
  return { audience, plan, ...shownUnknown(counted), withoutValue, ...held, approximate };
}

/**
 * The push within the limits of its caller, and its audience. `showsWithheld`: counts whom caps
 * would leave out.
 */
export async function countedPush(
  { accept, sql }: PreviewParts,
  { caller, body }: Pick<Asked<Caller, unknown, unknown, AskedPush>, 'caller' | 'body'>,
  { showsWithheld }: { readonly showsWithheld: boolean },
): Promise<Result<CountedPush>> {
  const expanded = await expandPush(sql, caller, body.push);
  const held = await holdToPolicies(sql, caller, expanded.push);
  if (!held.ok) return held;
  const faults = [...expanded.faults, ...held.faults];
  if (faults.length > 0) return refuse.invalid(faults);
  const limited = await limitPush(sql, caller, held.push);
  if (!limited.ok) return refused(403, limited.why);
  const { policy, ...plain } = limited.push;
  const push = showsWithheld && policy !== undefined ? { ...plain, policy } : plain;
  const counted = await accept.dryRun(
    push,
    caller.clientId,
    endFaults(push.expiresAtMs),
    body.isApproximate ? SAMPLED_GROUPS_MAX : undefined,
  );
  switch (counted.kind) {
    case 'invalid':
      return refuse.invalid(counted.faults);
    case 'busy':
      return refuse.tooMuchCounted;
    case 'too-many-templates':
      return refuse.tooManyTemplates;
    case 'counted':
      return done({ push, counted });
  }
}
