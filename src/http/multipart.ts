/** `multipart/form-data` with one part (RFC 7578), the form in which connectors send JSON. */

type PartRead =
  | { readonly ok: true; readonly body: Buffer }
  | { readonly ok: false; readonly why: string };

/**
 * RFC 2046, 5.1.1.
 * @limit characters of the boundary of `multipart/form-data` → `400`
 */
const BOUNDARY_LENGTH_MAX = 70;
/**
 * Its name, and what the connector's library says about it.
 * @limit the header of a part of `multipart/form-data` → `400`
 */
const PART_HEAD_BYTES_MAX = 4_096;

const CR = 0x0d;
const LF = 0x0a;
const DASH = 0x2d;
const SPACE = 0x20;
const TAB = 0x09;

const MULTIPART = /^multipart\/form-data[ \t]*(?:;|$)/i;
const BOUNDARY = /;[ \t]*boundary=(?:"([^"]*)"|([^\s;"]+))/i;
const FORM_DATA = /^content-disposition:[ \t]*form-data[ \t]*;/im;
const NAME = /;[ \t]*name=(?:"([^"\r\n]*)"|([^\s;"]+))/i;

/** Whether a body of this Content-Type comes in parts. */
export const isMultipart = (contentType: string): boolean => MULTIPART.test(contentType);

/** Reads the body's only part, which must have this name. */
export function readOnlyPart(contentType: string, body: Buffer, name: string): PartRead {
  const [, quoted, bare] = BOUNDARY.exec(contentType) ?? [];
  const boundary = quoted ?? bare ?? '';
  if (boundary === '' || boundary.length > BOUNDARY_LENGTH_MAX) {
    return refuse(
      `The Content-Type multipart/form-data needs a boundary of 1–${BOUNDARY_LENGTH_MAX} characters.`,
    );
  }
  const delimiter = Buffer.from(`--${boundary}`, 'latin1');
  const first = nextDelimiter(body, delimiter, 0);
  const second = first === null ? null : nextDelimiter(body, delimiter, first.end);
  if (first === null || second === null || first.isLast) return refuse(UNENDED);
  if (!second.isLast) return refuse(`The body must have one part, "${name}", and has more.`);
  const headEnd = body.indexOf('\r\n\r\n', first.end - 2);
  // The line break before a delimiter belongs to the delimiter.
  const end = second.start - 2;
  if (headEnd === -1 || headEnd + 4 > end) return refuse(UNENDED);
  if (headEnd - first.end > PART_HEAD_BYTES_MAX) {
    return refuse(`The header of a part may have ${PART_HEAD_BYTES_MAX} bytes at most.`);
  }
  const head = body.toString('utf8', first.end, headEnd);
  const [, quotedName, bareName] = NAME.exec(head) ?? [];
  return FORM_DATA.test(head) && (quotedName ?? bareName) === name
    ? { ok: true, body: body.subarray(headEnd + 4, end) }
    : refuse(`The body's part must be called "${name}".`);
}

const UNENDED =
  'The body is not multipart/form-data: its boundary does not stand before and after a part.';

const refuse = (why: string): PartRead => ({ ok: false, why });

interface Delimiter {
  readonly start: number;
  readonly end: number;
  readonly isLast: boolean;
}

/** A line that is the delimiter, followed by spaces at most, or the last one, with `--`. */
function nextDelimiter(body: Buffer, delimiter: Buffer, from: number): Delimiter | null {
  for (
    let start = body.indexOf(delimiter, from);
    start !== -1;
    start = body.indexOf(delimiter, start + 1)
  ) {
    const begins = start === 0 || (body[start - 2] === CR && body[start - 1] === LF);
    if (!begins) continue;
    let end = start + delimiter.length;
    if (body[end] === DASH && body[end + 1] === DASH) return { start, end, isLast: true };
    while (body[end] === SPACE || body[end] === TAB) end += 1;
    if (body[end] === CR && body[end + 1] === LF) return { start, end: end + 2, isLast: false };
  }
  return null;
}
