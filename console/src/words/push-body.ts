/** The body of a push, of what was composed. */

import type {
  AudienceRequest,
  Payload,
  PushRequest,
} from '../../../packages/client/src/openapi.ts';
import { changedNumbers } from '../../../packages/std/src/json-numbers.ts';
import type { PlatformId } from '../../../packages/std/src/platforms.ts';
import type { DraftFields } from '../state/draft.svelte.ts';
import { localTexts } from '../texts/local-time.ts';
import { typedMore } from '../texts/payload-fields.ts';
import { sendTexts as texts } from '../texts/send.ts';
import { isUnfinished } from './audience-rows.ts';
import { localisedTexts } from './languages.ts';
import { lastMomentOf, toTheMinute } from './local-waves.ts';

const MINUTE_MS = 60_000;
const ABSOLUTE = /^https?:\/\//;
/** A dot may be a host's: then what follows the colon is no port. */
const SCHEME = /^(?:[a-z][a-z0-9+-]*:|[a-z][a-z0-9+.-]*:(?!\d))/i;

/** Null: no audience is chosen, or a part of it is to be filled in. */
export function audienceOf(fields: DraftFields): AudienceRequest | null {
  const { isExpression, expression, any, all, none } = fields;
  const within = scopesOf(fields);
  if (isExpression) {
    const isWhole = expression.trim() !== '' && !isUnfinished(expression);
    return isWhole ? { audience: expression, ...within } : null;
  }
  if (any.length === 0) return null;
  const ids = (tags: DraftFields['any']) => tags.map(({ id }) => id);
  return {
    tagIds: ids(any),
    ...(all.length === 0 ? {} : { filterTagIds: ids(all) }),
    ...(none.length === 0 ? {} : { excludeTagIds: ids(none) }),
    ...within,
  };
}

const scopesOf = ({ apps, platformIds }: DraftFields): AudienceRequest => ({
  ...(apps.length === 0 ? {} : { appIds: apps.map(({ id }) => id) }),
  ...(platformIds.length === 0 ? {} : { platformIds: platformIds as PlatformId[] }),
});

/** The typed data; null: it is no JSON object. */
export function dataOf({ data }: DraftFields): Readonly<Record<string, unknown>> | null {
  if (data.trim() === '') return {};
  try {
    const read: unknown = JSON.parse(data);
    const isObject = typeof read === 'object' && read !== null && !Array.isArray(read);
    return isObject ? (read as Readonly<Record<string, unknown>>) : null;
  } catch {
    return null;
  }
}

/** The fault of the typed data; '': none. */
export function dataFaultOf(fields: DraftFields): string {
  if (dataOf(fields) === null) return texts.dataFault;
  const [changed] = changedNumbers(fields.data);
  return changed === undefined ? '' : texts.dataNumber(changed.path);
}

/** Fields that are empty are left out. */
export function payloadOf(fields: DraftFields): Payload {
  const { title, message, url, image, isSilent } = fields;
  const data = dataOf(fields) ?? {};
  const typed = Object.entries({ title, message, url, image });
  const shown = {
    ...Object.fromEntries(typed.filter(([, value]) => value !== '')),
    ...typedMore(fields),
    ...(isSilent ? { silent: true } : {}),
    ...(Object.keys(data).length === 0 ? {} : { data }),
  };
  return { ...forTemplates(fields), ...shown, ...localisedTexts(fields) };
}

/** Fields that have a name and a value; a field of the page itself stays what it is. */
const forTemplates = ({ templateFields }: DraftFields): Readonly<Record<string, string>> =>
  Object.fromEntries(
    templateFields
      .map(({ name, value }) => [name.trim(), value] as const)
      .filter(([name, value]) => name !== '' && value !== ''),
  );

/** The seconds to undo a send in, where the settings could not be read. */
export const UNDO_SECONDS = 10;

/** A hundredth, and one device at least. */
export const stageDevicesOf = (devices: number): number => Math.max(1, Math.ceil(devices / 100));

/** The fields that the confirmation adds: seconds to undo it in, devices of its first stage. */
export const heldBody = (
  { when, isUrgent, isStaged }: DraftFields,
  { undoSeconds, devices }: { readonly undoSeconds: number; readonly devices: number },
): Pick<PushRequest, 'holdSeconds' | 'pauseAfter'> => ({
  ...(when === 'now' && !isUrgent && undoSeconds > 0 ? { holdSeconds: undoSeconds } : {}),
  ...(isStaged && devices > 1 ? { pauseAfter: stageDevicesOf(devices) } : {}),
});

/** Null: no audience is chosen. */
export function pushBodyOf(fields: DraftFields, nowMs = Date.now()): PushRequest | null {
  const audience = audienceOf(fields);
  if (audience === null) return null;
  const { sendAt, expiresMinutes, ratePerSecond, isUrgent, category, ignoresCaps } = fields;
  const when = sendAt === '' ? 'now' : fields.when;
  const sendAtMs = when === 'later' ? new Date(sendAt).getTime() : null;
  const lastMs = when === 'local' ? lastMomentOf(sendAt) : null;
  return {
    ...audience,
    payload: payloadOf(fields),
    ...(sendAtMs === null ? {} : { sendAt: sendAtMs }),
    ...(when === 'local' ? localTimeOf(fields) : {}),
    ...(expiresMinutes === 0
      ? {}
      : { expiresAt: (sendAtMs ?? lastMs ?? nowMs) + expiresMinutes * MINUTE_MS }),
    ...(ratePerSecond === null ? {} : { ratePerSecond }),
    ...(isUrgent ? { priority: 'urgent' as const } : {}),
    ...(category === '' ? {} : { category }),
    ...(ignoresCaps ? { caps: 'ignore' as const } : {}),
  };
}

const localTimeOf = ({
  sendAt,
  isLateSent,
}: DraftFields): Pick<PushRequest, 'sendAtLocal' | 'late'> => ({
  sendAtLocal: toTheMinute(sendAt),
  ...(isLateSent ? { late: 'send' as const } : {}),
});

/**
 * The fault of the time at which it goes out; '': none. Without a time, or with one that is over,
 * the engine would send at once.
 */
export function sendAtFaultOf(
  {
    when,
    sendAt,
    isLateSent,
  }: Pick<DraftFields, 'when' | 'sendAt'> & Partial<Pick<DraftFields, 'isLateSent'>>,
  nowMs: number,
): string {
  if (when === 'now') return '';
  if (sendAt === '') return texts.sendAtMissing;
  if (when === 'local') {
    return isLateSent || (lastMomentOf(sendAt) ?? 0) > nowMs ? '' : localTexts.over;
  }
  return new Date(sendAt).getTime() <= nowMs ? texts.sendAtOver : '';
}

/** The fault of a link; '': none. A phone opens nothing without a scheme. */
export const linkFaultOf = (url: string): string =>
  url === '' || SCHEME.test(url) ? '' : texts.linkFault;

/** The fault of the address of an image; '': none. */
export const imageFaultOf = (url: string): string =>
  url === '' || url.startsWith('https://') ? '' : texts.imageFault;

/** Whether an address has a scheme that browsers do not open. */
export const isForAppsOnly = (url: string): boolean => SCHEME.test(url) && !ABSOLUTE.test(url);
