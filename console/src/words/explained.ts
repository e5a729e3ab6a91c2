/** The answers about a device and an audience in plain words. */

import type { DeviceExplanation } from '../../../packages/client/src/openapi.ts';
import { explainTexts as texts } from '../texts/devices.ts';

type Because = DeviceExplanation['because'][number];

/** Says what is asked of the device: `Has tag news`, `@language = de`. */
export function conditionOf({ kind, operand }: Because): string {
  const isExcluded = operand.startsWith('!');
  const name = isExcluded ? operand.slice(1) : operand;
  if (kind === 'tag') return isExcluded ? texts.hasNotTag(name) : texts.hasTag(name);
  if (kind === 'everybody') return isExcluded ? operand : texts.everybody;
  return texts.limits[kind] ?? operand;
}

/** Says what the device has. */
export function valueInWords({ kind, value, held }: Because): string {
  if (value === undefined && kind === 'tag') return texts.noTag;
  if (value === undefined && kind === 'attribute') return texts.noValue;
  if (kind === 'tag') return value === true ? texts.has : texts.hasNot;
  if (typeof value === 'boolean') return value ? texts.yes : texts.no;
  if (kind === 'attribute') return String(value);
  return held ? texts.yes : texts.no;
}

/** Whether the device is in the audience. */
export function sentenceOf({ known, inAudience }: DeviceExplanation): string {
  if (!known) return texts.known.gone;
  return inAudience ? texts.known.yes : texts.known.no;
}
