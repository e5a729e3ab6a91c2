/** Reads the records of an import's file, and judges each by what the app and the caller want. */

import type { Entry, FileDevice } from '../../../packages/device-files/src/file-device.ts';
import { fittingFormat } from '../../../packages/device-files/src/fitting-format.ts';
import type { FormatName } from '../../../packages/device-files/src/formats.ts';
import { FORMATS } from '../../../packages/device-files/src/formats.ts';
import { readEntries } from '../../../packages/device-files/src/read-entries.ts';
import { WrongFileError } from '../../../packages/device-files/src/wrong-file-error.ts';
import { errorReason } from '../../../packages/std/src/error-reason.ts';
import { PLATFORM_LABELS } from '../../../packages/std/src/platforms.ts';
import { normalizeDeviceId } from '../../domain/device.ts';
import { providerOn } from '../../providers/providers.ts';
import { counted } from '../../std/counted.ts';
import type { AttributeChoice, KnownAttributes } from './attribute-choice.ts';
import { withAttributes } from './attribute-choice.ts';
import type { ImportInput } from './import-input.ts';
import type { Tally } from './import-tally.ts';
import { add } from './import-tally.ts';
import type { TagChoice } from './tag-choice.ts';

export type End =
  | { readonly kind: 'done' }
  | { readonly kind: 'interrupted' }
  /** `isFinal`: the same command would not go on, but begin again. */
  | { readonly kind: 'stopped'; readonly why: string; readonly isFinal?: true };

interface Reading {
  readonly input: ImportInput;
  readonly format: FormatName;
  /** Records that an earlier run has dealt with. */
  readonly passOver: number;
  /** Takes one record; returns the reason to stop. */
  take(entry: Entry): Promise<End | null> | End | null;
  /** Called after each piece of the file. */
  show(): void;
}

/** Reads to the end of the file, to an interruption, or to a reason to stop. */
export async function readRecords(reading: Reading, signal: AbortSignal): Promise<End> {
  let left = reading.passOver;
  try {
    for await (const entries of readEntries(reading.input.octets, FORMATS[reading.format])) {
      for (const entry of entries) {
        if (signal.aborted) return { kind: 'interrupted' };
        if (left > 0) {
          left -= 1;
          continue;
        }
        const end = await reading.take(entry);
        if (end !== null) return end;
      }
      reading.show();
    }
    return { kind: 'done' };
  } catch (error) {
    if (signal.aborted) return { kind: 'interrupted' };
    if (error instanceof WrongFileError) {
      return { kind: 'stopped', why: `${error.message}${fitAdvice(reading)}` };
    }
    // An error of reading the file, or of unpacking it.
    if (!(error instanceof Error && 'errno' in error)) throw error;
    return { kind: 'stopped', why: `The file cannot be read: ${errorReason(error)}.` };
  }
}

interface Rules {
  readonly platformIds: readonly number[];
  readonly choice: TagChoice;
  readonly attributeChoice: AttributeChoice;
  readonly known: KnownAttributes | null;
}

/** The device of a record with the tags that are taken. Null: it is counted, and not imported. */
export function deviceOf(
  entry: Entry,
  { platformIds, choice, attributeChoice, known }: Rules,
  tally: Tally,
  complain: (sentence: string) => void,
): FileDevice | null {
  if (entry.kind === 'passed') {
    add(tally.passed, `${entry.reason}${ofPlatform(entry.platformId)}`);
    return null;
  }
  const fault = entry.kind === 'fault' ? entry.sentence : tokenFaultOf(entry.device);
  if (fault !== null) {
    tally.faults += 1;
    complain(`Line ${entry.line} ${fault}`);
    return null;
  }
  const { device: read } = entry as Extract<Entry, { readonly kind: 'device' }>;
  if (!platformIds.includes(read.platformId)) {
    add(tally.passed, `the app is not on this platform${ofPlatform(read.platformId)}`);
    return null;
  }
  const { device, notTaken } = withAttributes(read, attributeChoice, known);
  tally.attributesNotTaken += notTaken;
  for (const reason of device.unusable) add(tally.attributesLeftOut, reason);
  const tags = device.tags.filter((tag) => choice.takes(tag));
  tally.tagsNotTaken += device.tags.length - tags.length;
  return tags.length === device.tags.length ? device : { ...device, tags };
}

const ofPlatform = (platformId: number | null): string =>
  platformId === null ? '' : `, ${PLATFORM_LABELS.get(platformId)}`;

/** A malformed token gets nothing: its provider would refuse each send. */
function tokenFaultOf({ platformId, deviceId }: FileDevice): string | null {
  const fault = providerOn(platformId).tokenFault(normalizeDeviceId(platformId, deviceId));
  return fault === null ? null : `deviceId ${fault}.`;
}

type File = Pick<Reading, 'input' | 'format'>;

/** Names the format that the file seems to have, if it is another one than was asked for. */
function fitAdvice({ input, format }: File): string {
  const fitting = fittingFormat(input.beginning());
  return fitting === null || fitting === format ? '' : ` It looks like --format ${fitting}.`;
}

/** Why an import stops after more bad records than it may have; null: it goes on. */
export const endByFaults = (faults: number, faultsMax: number, file: File): End | null =>
  faults <= faultsMax
    ? null
    : {
        kind: 'stopped',
        why: `There are more than ${counted(faultsMax, 'bad record')} (--bad-lines).${fitAdvice(file)}`,
      };

/** A sentence when no record could be read, and the file seems to have another format. */
export function adviceOnNone(records: number, faults: number, file: File): string | null {
  const advice = records > 0 && faults === records ? fitAdvice(file) : '';
  return advice === '' ? null : `No record could be read.${advice}`;
}
