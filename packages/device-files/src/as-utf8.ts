/**
 * Octets of a file as UTF-8. Excel ("Unicode Text") and PowerShell write UTF-16, mostly with a byte
 * order mark. Without one, a file of UTF-16 has a NUL among its first two octets, which no format
 * that is read here has.
 */

import { TextDecoder } from 'node:util';
import { WrongFileError } from './wrong-file-error.ts';

/** Passes UTF-8 on as it is. */
export async function* asUtf8(octets: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let begun: Buffer = Buffer.alloc(0);
  let isKnown = false;
  let decoder: TextDecoder | null = null;
  for await (const chunk of octets) {
    const piece = isKnown ? chunk : Buffer.concat([begun, chunk]);
    if (!isKnown && piece.length < 2) {
      begun = piece;
      continue;
    }
    if (!isKnown) decoder = decoderFor(piece);
    isKnown = true;
    yield decoder === null ? piece : decoded(decoder, piece);
  }
  if (!isKnown) yield begun;
  else if (decoder !== null) yield decoded(decoder);
}

/** The text of a file's beginning, for a guess: what is cut off at its end does not matter. */
export function textOfBeginning(octets: Buffer): string {
  const { encoding } = decoderFor(octets) ?? { encoding: 'utf-8' };
  return new TextDecoder(encoding).decode(octets, { stream: true });
}

function decoderFor([first, second]: Buffer): TextDecoder | null {
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0))
    return new TextDecoder('utf-16le', { fatal: true });
  if ((first === 0xfe && second === 0xff) || (first === 0 && second !== 0))
    return new TextDecoder('utf-16be', { fatal: true });
  return null;
}

/** Without a piece: what is left at the end. */
function decoded(decoder: TextDecoder, piece?: Buffer): Buffer {
  try {
    return Buffer.from(decoder.decode(piece, { stream: piece !== undefined }));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new WrongFileError('The file begins as UTF-16, but is not valid UTF-16.', {
      cause: error,
    });
  }
}
