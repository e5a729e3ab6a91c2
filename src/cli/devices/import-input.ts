/** The file of an import: its octets, its size, and a fingerprint. */

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { UsageError } from '../arguments.ts';

export interface ImportInput {
  /** The octets of the file, unpacked if its name ends in `.gz`. */
  readonly octets: AsyncIterable<Buffer>;
  /** Null for standard input. */
  readonly size: number | null;
  /** Distinguishes a file from others; null for standard input. */
  readonly fingerprint: string | null;
  octetsRead(): number;
  /** The first octets, unpacked; empty before any was read. */
  beginning(): Buffer;
  close(): void;
}

const PACKED = /\.gz$/i;
/** Octets of the file's beginning. With the size they distinguish an export from the next one. */
const FINGERPRINT_OCTETS = 65_536;
const CHUNK_OCTETS = 262_144;
/** Enough to see of which format it is. */
const BEGINNING_OCTETS = 16_384;

/** Opens a file, or standard input for `-`. */
export async function openInput(path: string): Promise<ImportInput> {
  if (path === '-') return inputOf(process.stdin, null, null, false);
  try {
    const file = await open(path);
    try {
      const { size } = await file.stat();
      const { buffer, bytesRead } = await file.read(Buffer.alloc(FINGERPRINT_OCTETS), 0);
      const hash = createHash('sha256').update(buffer.subarray(0, bytesRead)).digest('hex');
      const stream = createReadStream(path, { highWaterMark: CHUNK_OCTETS });
      return inputOf(stream, size, `${size}-${hash}`, PACKED.test(path));
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new UsageError(`cannot read ${path}`, { cause: error });
  }
}

function inputOf(
  stream: Readable,
  size: number | null,
  fingerprint: string | null,
  isPacked: boolean,
): ImportInput {
  let octetsRead = 0;
  let beginning: Buffer = Buffer.alloc(0);
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of stream) {
      octetsRead += chunk.length;
      yield chunk;
    }
  }
  async function* remembered(octets: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of octets) {
      if (beginning.length === 0) beginning = chunk.subarray(0, BEGINNING_OCTETS);
      yield chunk;
    }
  }
  return {
    octets: remembered(isPacked ? unpack(counted()) : counted()),
    size,
    fingerprint,
    octetsRead: () => octetsRead,
    beginning: () => beginning,
    close: () => stream.destroy(),
  };
}

/** A fault of the compression is thrown to the reader. */
function unpack(octets: AsyncIterable<Buffer>): Readable {
  const gunzip = createGunzip({ chunkSize: CHUNK_OCTETS });
  pipeline(octets, gunzip).catch(() => undefined);
  return gunzip;
}
