/** The body that puts a provider credential, and the answer to a check of one. */

import { z } from 'zod';
import { GRACE_HOURS_MAX } from '../../access/credentials.ts';
import type { Body } from '../../http/form-body.ts';
import { parseObject } from '../../http/json-body.ts';
import { LenientReader } from '../../http/lenient.ts';
import { time } from '../../http/openapi/parts.ts';
import type { Fault } from '../../http/problem.ts';
import { done, refuse } from '../../http/result.ts';
import { credentialFields } from '../../providers/credential-fields.ts';
import type { ProviderOrigins } from '../../providers/origins.ts';
import type { CheckResult } from '../credential-check.ts';
import type { PutTerms } from '../provider-credentials.ts';
import { PROVIDER_GRACE_HOURS } from '../provider-credentials.ts';
import type { PutParts } from '../put-credential.ts';

export interface AppPlatformParts extends PutParts {
  /** The operator's settings of the providers' addresses: a credential may name only these. */
  readonly origins: ProviderOrigins;
}

interface PutForm {
  /** The fields of the provider, which it checks. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly terms: PutTerms;
}

export const putBody: Body<PutForm> = {
  schema: z.looseObject({
    ...credentialFields,
    graceHours: z.int().min(0).max(GRACE_HOURS_MAX).optional().meta({
      description:
        'How long the credential before it, if of the same account, stands by for one that the provider refuses. Absent: 72.',
    }),
    expiresAt: time.nullish().meta({ description: 'When the key ends.' }),
  }),
  example: { teamId: 'TEAM123456', keyId: 'KEY1234567', bundleId: 'com.acme.news' },
  read(request) {
    const body = parseObject(request.body);
    if (!body.ok) return refuse.invalid(body.faults);
    const { graceHours, expiresAt, ...input } = body.value;
    const { terms, faults } = readTerms(graceHours, expiresAt);
    return faults.length > 0 ? refuse.invalid(faults) : done({ input, terms });
  },
};

const GRACE = `must be whole hours, 0–${GRACE_HOURS_MAX}`;
const graceForm = z.int().min(0).max(GRACE_HOURS_MAX).default(PROVIDER_GRACE_HOURS);

function readTerms(
  graceHours: unknown,
  expiresAt: unknown,
): { readonly terms: PutTerms; readonly faults: readonly Fault[] } {
  const reader = new LenientReader({ expiresAt });
  const expiresAtMs = reader.time('expiresAt');
  const grace = graceForm.safeParse(graceHours);
  if (!grace.success) reader.fault('graceHours', GRACE);
  return {
    terms: { graceHours: grace.data ?? PROVIDER_GRACE_HOURS, expiresAtMs },
    faults: reader.faults,
  };
}

export const checked = z.object({ ok: z.boolean().nullable(), note: z.string() });
export const CHECKED = { ok: true, note: 'The provider accepts it.' };

export const shownCheck = ({ isHealthy, note }: CheckResult) => ({ ok: isHealthy, note });
