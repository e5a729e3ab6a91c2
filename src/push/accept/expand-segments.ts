/**
 * Puts the expressions of segments in their places, when a push is accepted: what the job keeps is
 * what was meant then. Faults are where the name of a segment stands.
 */

import type { Sql } from '../../database/sql.ts';
import type { AudienceExpression } from '../../domain/audience-expression.ts';
import {
  EXPRESSION_LENGTH_MAX,
  readExpression,
  relocated,
  segmentsOf,
} from '../../domain/audience-expression.ts';
import type { ExpressionFault } from '../../domain/expression-scanner.ts';
import { meantName } from '../../std/nearest-name.ts';
import { findSegments, listSegmentNames } from '../sql/segments.ts';

/** @publisherLimit segments inside each other → `400` */
const SEGMENTS_DEEP_MAX = 5;

type Expanded =
  | { readonly ok: true; readonly expression: AudienceExpression }
  | { readonly ok: false; readonly fault: ExpressionFault };

interface Expansion {
  readonly sql: Sql;
  readonly clientId: number;
  /** Whether a fault may name other segments. */
  readonly tellsNames: boolean;
  /** The segment that it will be: it cannot name itself, and may only narrow. Absent: a push's. */
  readonly self?: string;
}

/** Who names no segment has none looked up. */
export async function expandSegments(
  expression: AudienceExpression,
  { sql, clientId, tellsNames, self }: Expansion,
): Promise<Expanded> {
  const used = segmentsOf(expression.root);
  const [first] = used;
  if (first === undefined) return { ok: true, expression };
  const known = await segmentsNamedIn(sql, clientId, expression);
  const spans: Span[] = [];
  let text = '';
  let from = 0;
  for (const { segment, position, end } of used) {
    text += expression.text.slice(from, position);
    const body = bodyOf(segment, known, self === undefined ? [] : [self]);
    if (!body.ok) {
      const meant =
        body.unknown !== undefined && tellsNames
          ? meantName(body.unknown, await listSegmentNames(sql, clientId))
          : null;
      const message = meant === null ? body.why : `${body.why} Is $${meant} meant?`;
      return { ok: false, fault: { position, message } };
    }
    if (text.length + body.text.length > EXPRESSION_LENGTH_MAX) {
      return { ok: false, fault: { position, message: TOO_LONG } };
    }
    spans.push({ start: text.length, length: body.text.length, position, end });
    text += body.text;
    from = end;
  }
  text += expression.text.slice(from);
  return reread(text, spans, self !== undefined);
}

/** Where the text of a segment stands, and where its name stood. */
interface Span {
  readonly start: number;
  readonly length: number;
  readonly position: number;
  readonly end: number;
}

/** The whole text as if it had been written so; its places are those in what was written. */
function reread(text: string, spans: readonly Span[], isSegment: boolean): Expanded {
  const placeOf = (at: number): number => {
    let shift = 0;
    for (const { start, length, position, end } of spans) {
      if (at < start) break;
      if (at < start + length) return position;
      shift = end - (start + length);
    }
    return at + shift;
  };
  const read = readExpression(text, { isExpanded: true, isSegment });
  if (!read.ok) {
    const { position, message } = read.fault;
    const fault = { position: placeOf(position), message: `With its segments: ${message}` };
    return { ok: false, fault };
  }
  return { ok: true, expression: { text, root: relocated(read.expression.root, placeOf) } };
}

type Body =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly why: string; readonly unknown?: string };

/** The text in place of a segment. `path`: the segments that it is in. */
function bodyOf(
  name: string,
  known: ReadonlyMap<string, AudienceExpression>,
  path: readonly string[],
): Body {
  const chain = [...path, name];
  if (path.includes(name)) {
    return { ok: false, why: `A segment cannot contain itself: ${chain.map(shown).join(' → ')}.` };
  }
  if (chain.length > SEGMENTS_DEEP_MAX) {
    return { ok: false, why: `Segments may stand ${SEGMENTS_DEEP_MAX} deep in each other.` };
  }
  const expression = known.get(name);
  if (expression === undefined) {
    return { ok: false, why: `There is no segment ${shown(name)}.`, unknown: name };
  }
  let text = '(';
  let from = 0;
  for (const { segment, position, end } of segmentsOf(expression.root)) {
    const inner = bodyOf(segment, known, chain);
    if (!inner.ok) return inner;
    text += expression.text.slice(from, position) + inner.text;
    from = end;
    // Before it grows further: each level may name the next one a thousand times.
    if (text.length > EXPRESSION_LENGTH_MAX) {
      return { ok: false, why: TOO_LONG };
    }
  }
  return { ok: true, text: `${text}${expression.text.slice(from)})` };
}

const TOO_LONG = `With its segments it has more than ${EXPRESSION_LENGTH_MAX} characters.`;

const shown = (name: string): string => `$${name}`;

/** All segments that it needs, level by level. */
async function segmentsNamedIn(
  sql: Sql,
  clientId: number,
  expression: AudienceExpression,
): Promise<ReadonlyMap<string, AudienceExpression>> {
  const known = new Map<string, AudienceExpression>();
  let wanted = namesIn([expression]);
  for (let level = 0; level < SEGMENTS_DEEP_MAX && wanted.length > 0; level += 1) {
    const found = await findSegments(sql, clientId, wanted);
    const read = found.flatMap(({ name, expression: text }) => {
      const one = readExpression(text, { isSegment: true });
      return one.ok ? [[name, one.expression] as const] : [];
    });
    for (const [name, one] of read) known.set(name, one);
    wanted = namesIn(read.map(([, one]) => one)).filter((name) => !known.has(name));
  }
  return known;
}

const namesIn = (expressions: readonly AudienceExpression[]): readonly string[] => [
  ...new Set(expressions.flatMap(({ root }) => segmentsOf(root).map(({ segment }) => segment))),
];
