/**
 * The frames of http2jp/http2-frame-test-case that lie in test/vectors: octets, and what they hold
 * or which error they are.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FrameReader } from '../../../../packages/http2/src/codec/frame-reader.ts';

/** A frame as `FrameReader` hands it on. */
export interface HandedFrame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

export interface GoodVector {
  /** Folder and file. */
  readonly name: string;
  readonly wire: Buffer;
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly length: number;
  readonly payload: Readonly<Record<string, unknown>>;
}

export interface BadVector {
  readonly name: string;
  readonly wire: Buffer;
  /** The codes that are right. */
  readonly codes: readonly number[];
}

interface VectorFile {
  readonly error: readonly number[] | null;
  readonly wire: string;
  readonly frame: {
    readonly length: number;
    readonly type: number;
    readonly flags: number;
    readonly stream_identifier: number;
    readonly frame_payload: Readonly<Record<string, unknown>>;
  } | null;
}

/** From dist/test/http2/frame back to the root of the repository. */
const VECTORS = join(import.meta.dirname, '../../../../..', 'test/vectors/http2-frames');

const FILES: readonly (readonly [name: string, file: VectorFile])[] = readdirSync(VECTORS, {
  recursive: true,
  encoding: 'utf8',
})
  .filter((name) => name.endsWith('.json'))
  .sort()
  .map((name) => [name, JSON.parse(readFileSync(join(VECTORS, name), 'utf8')) as VectorFile]);

export const GOOD_VECTORS: readonly GoodVector[] = FILES.flatMap(([name, { wire, frame }]) =>
  frame === null
    ? []
    : [
        {
          name,
          wire: Buffer.from(wire, 'hex'),
          type: frame.type,
          flags: frame.flags,
          streamId: frame.stream_identifier,
          length: frame.length,
          payload: frame.frame_payload,
        },
      ],
);

export const BAD_VECTORS: readonly BadVector[] = FILES.flatMap(([name, { wire, error }]) =>
  error === null ? [] : [{ name, wire: Buffer.from(wire, 'hex'), codes: error }],
);

/** The good vectors of one folder. */
export const goodVectors = (folder: string): readonly GoodVector[] =>
  GOOD_VECTORS.filter(({ name }) => name.startsWith(`${folder}/`));

/** The bad vectors of one kind of frame. */
export const badVectors = (kind: string): readonly BadVector[] =>
  BAD_VECTORS.filter(({ name }) => name.startsWith(`error/${kind}-`));

/** Cuts octets that are whole frames. */
export function handed(wire: Buffer): readonly HandedFrame[] {
  const frames: HandedFrame[] = [];
  const reader = new FrameReader(
    {
      receiveFrame: (type, flags, streamId, bytes, start, end) =>
        frames.push({ type, flags, streamId, bytes, start, end }),
    },
    Buffer.alloc(0),
  );
  reader.read(wire);
  return frames;
}

/** The only frame of a vector. */
export function frameOf(wire: Buffer): HandedFrame {
  const [frame, ...others] = handed(wire);
  if (frame === undefined || others.length > 0) throw new Error('not one frame');
  return frame;
}

/** The code of the error that comes of it; null: none. */
export function codeOf(step: () => unknown): number | null {
  try {
    step();
    return null;
  } catch (error) {
    return (error as { readonly code: number }).code;
  }
}

/** Text of `bytes[start, end)`. */
export const text = (
  bytes: Buffer,
  { start, end }: { readonly start: number; readonly end: number },
): string => bytes.toString('latin1', start, end);
