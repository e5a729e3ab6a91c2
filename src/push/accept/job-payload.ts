/** Makes of a payload what its job keeps, within a bound: every claim reads it all. */

import type { PlatformId } from '../../../packages/std/src/platforms.ts';
import { PLATFORMS } from '../../../packages/std/src/platforms.ts';
import { scopeKeyOf } from '../../domain/device.ts';
import type { Payload } from '../../domain/notification.ts';
import { withReplaceableDefault } from '../../domain/replaceable.ts';
import type { ClientScope } from '../sql/notifications/list-scopes.ts';
import type { Content } from './contents.ts';

/**
 * A message of the largest size in 32 languages has 130 KiB.
 * @publisherLimit payload that a job keeps, as JSON, with its languages and what templates made of
 * it; parts of platforms that it does not go to are not kept → `400`
 */
export const JOB_PAYLOAD_BYTES_MAX = 262_144;

/** `scopes`: those that the job goes to. `replaceableDefault`: see ContentParts. */
export function jobContent(
  content: Content,
  scopes: readonly ClientScope[],
  replaceableDefault: boolean,
): Content {
  if (content.kind !== 'fit') return content;
  const { payload, templated } = content;
  const made = templated?.payloads ?? {};
  const plain = scopes.filter((scope) => !Object.hasOwn(made, scopeKeyOf(scope)));
  const kept = keptOf(
    payload,
    plain.map(({ platformId }) => platformId),
  );
  const platformOf = new Map(scopes.map((scope) => [scopeKeyOf(scope), scope.platformId]));
  const payloads = Object.entries(made).map(([key, one]) => {
    const platformId = platformOf.get(key);
    return [key, keptOf(one, platformId === undefined ? [] : [platformId])] as const;
  });
  const parts = [kept, templated?.given ?? {}, ...payloads.map(([, one]) => one)];
  return isTooLarge(parts)
    ? { kind: 'invalid', faults: [{ path: 'payload', message: TOO_LARGE }] }
    : {
        kind: 'fit',
        payload: kept,
        templated: templated && { ...templated, payloads: Object.fromEntries(payloads) },
      };

  function keptOf(whole: Payload, platformIds: readonly PlatformId[]): Payload {
    return withReplaceableDefault(forPlatforms(whole, platformIds), replaceableDefault);
  }
}

const TOO_LARGE = `is more than ${JOB_PAYLOAD_BYTES_MAX} bytes as the job would keep it: with its languages, and with what templates make of it. Shorten it, or name fewer apps.`;

function forPlatforms(payload: Payload, platformIds: readonly PlatformId[]): Payload {
  const { languages } = payload;
  const fields = Object.entries(payload).filter(([name]) => {
    const platformId = (PLATFORMS as Readonly<Record<string, PlatformId>>)[name];
    return platformId === undefined || platformIds.includes(platformId);
  });
  const kept = Object.fromEntries(fields) as unknown as Payload;
  if (languages === undefined) return kept;
  return {
    ...kept,
    languages: languages.map((one) => ({
      ...one,
      payload: forPlatforms(one.payload, platformIds),
    })),
  };
}

/** Counts no further than needed. */
function isTooLarge(parts: readonly object[]): boolean {
  let bytes = 0;
  return parts.some((part) => {
    bytes += Buffer.byteLength(JSON.stringify(part));
    return bytes > JOB_PAYLOAD_BYTES_MAX;
  });
}
