/** Says of one device whether what an audience asks holds, and what the device has. */

import type { ExplainedDevice } from '../../devices/explained-device.ts';
import type { AskedTest } from '../../domain/asked-audience.ts';
import { meetsTest } from '../../domain/attribute-test.ts';
import type { Scope } from '../../domain/device.ts';
import { meetsDays, rangesOf } from '../../domain/device-days.ts';
import {
  isNumberType,
  meetsNumbers,
  numbersTest,
  shownNumber,
} from '../../domain/device-numbers.ts';
import type { AskedOperand } from './asked-operands.ts';

type ShownValue = string | number | boolean;

export interface JudgedOperand {
  readonly kind: 'tag' | 'attribute' | 'everybody';
  readonly operand: string;
  /** Null: it has none, or there is no such tag. */
  readonly value: ShownValue | null;
  readonly held: boolean;
}

interface Judged extends Scope {
  readonly device: ExplainedDevice;
  /** Relative times count from here. */
  readonly nowMs: number;
}

/** Goes by the rules by which the indexes find audiences. */
export function judge(
  { text, isExcluded, asks, isForgotten }: AskedOperand,
  judged: Judged,
): JudgedOperand {
  const { value, isMet } = answerTo(asks, judged);
  // Each device of an audience has a subscription: "not everybody" addresses none.
  const isNobody = isForgotten === true || (asks.kind === 'everybody' && isExcluded);
  const held = !isNobody && isMet !== isExcluded;
  return { kind: asks.kind, operand: text, value, held };
}

interface Answer {
  readonly value: ShownValue | null;
  /** Without its `!`. */
  readonly isMet: boolean;
}

const NOTHING: Answer = { value: null, isMet: false };

function answerTo(asks: AskedOperand['asks'], judged: Judged): Answer {
  const { tagIds } = judged.device;
  switch (asks.kind) {
    case 'everybody':
      return { value: tagIds.length > 0, isMet: tagIds.length > 0 };
    case 'tag': {
      if (asks.id === null) return NOTHING;
      const isMet = tagIds.includes(asks.id);
      return { value: isMet, isMet };
    }
    case 'attribute':
      return asks.test === null ? NOTHING : answerToTest(asks.test, judged);
  }
}

function answerToTest(test: AskedTest, judged: Judged): Answer {
  const { subject, type, operator, values } = test;
  const { device, nowMs } = judged;
  if (typeof subject === 'number') return answerOfAttribute({ ...test, subject }, judged);
  if (subject === 'app' || subject === 'platform') {
    const value = subject === 'app' ? judged.appId : judged.platformId;
    return { value, isMet: meetsTest(type, operator, values, String(value)) };
  }
  const day = device[subject];
  const isMet = rangesOf(subject, operator, values, nowMs).some((one) => meetsDays(one, device));
  return { value: day === null ? null : dayText(day), isMet };
}

const DAY_MS = 86_400_000;

const dayText = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

function answerOfAttribute(
  { subject, type, operator, values }: AskedTest & { readonly subject: number },
  { device, nowMs }: Judged,
): Answer {
  const known = device.attributes.find(({ attributeId }) => attributeId === subject);
  if (known === undefined) return NOTHING;
  if (!isNumberType(type)) {
    const value = type === 'boolean' ? known.value === 'true' : known.value;
    return { value, isMet: meetsTest(type, operator, values, known.value) };
  }
  const test = numbersTest(subject, type, operator, values, nowMs);
  return {
    value: shownNumber(type, known.value),
    isMet: test !== null && meetsNumbers(test, device.numbers),
  };
}
