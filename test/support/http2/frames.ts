/**
 * Frames as the scripted peer writes and reads them (RFC 9113, 4 and 6), lawful or not. Nothing
 * here comes from packages/http2: a fault of the codec there would be the same on both sides and
 * hide itself.
 */

import { createHash } from 'node:crypto';
import type { Pair } from './blocks.ts';
import { block } from './blocks.ts';

export const Type = Object.freeze({
  DATA: 0,
  HEADERS: 1,
  PRIORITY: 2,
  RST_STREAM: 3,
  SETTINGS: 4,
  PUSH_PROMISE: 5,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
  CONTINUATION: 9,
});

export const END_STREAM = 0x1;
export const ACK = 0x1;
export const END_HEADERS = 0x4;
export const PADDED = 0x8;
export const PRIORITY = 0x20;

export const Code = Object.freeze({
  NO_ERROR: 0,
  PROTOCOL_ERROR: 1,
  INTERNAL_ERROR: 2,
  FLOW_CONTROL_ERROR: 3,
  SETTINGS_TIMEOUT: 4,
  STREAM_CLOSED: 5,
  FRAME_SIZE_ERROR: 6,
  REFUSED_STREAM: 7,
  CANCEL: 8,
  COMPRESSION_ERROR: 9,
  ENHANCE_YOUR_CALM: 11,
});

/** The identifiers of 6.5.2. */
export const Id = Object.freeze({
  HEADER_TABLE_SIZE: 1,
  ENABLE_PUSH: 2,
  MAX_CONCURRENT_STREAMS: 3,
  INITIAL_WINDOW_SIZE: 4,
  MAX_FRAME_SIZE: 5,
  MAX_HEADER_LIST_SIZE: 6,
});

/** 6.9.1, and the highest stream identifier too. */
export const UINT31_MAX = 2 ** 31 - 1;
export const HEAD_OCTETS = 9;

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: Buffer;
}

/** A failed test shows no more of a payload. */
const SHOWN_OCTETS_MAX = 256;

/** Anything that a peer can send: a frame, or any octets at all. */
export type Octets = Frame | Buffer;

/** Any frame whatever. */
export const frame = (
  type: number,
  flags: number,
  streamId: number,
  payload: Buffer | string = '',
): Frame => ({ type, flags, streamId, payload: Buffer.from(payload) });

export const data = (streamId: number, content: Buffer | string, flags = 0): Frame =>
  frame(Type.DATA, flags, streamId, content);

/** A whole field section, each field a literal. */
export const headers = (streamId: number, fields: readonly Pair[], flags = 0): Frame =>
  frame(Type.HEADERS, END_HEADERS | flags, streamId, block(fields));

/** HEADERS with a field block as it is, which may be a fragment: `flags` are all of them. */
export const headersOf = (streamId: number, fieldBlock: Buffer, flags: number): Frame =>
  frame(Type.HEADERS, flags, streamId, fieldBlock);

export const continuation = (streamId: number, fragment: Buffer, flags = 0): Frame =>
  frame(Type.CONTINUATION, flags, streamId, fragment);

export const priority = (streamId: number, octets = 5): Frame =>
  frame(Type.PRIORITY, 0, streamId, Buffer.alloc(octets));

export const rstStream = (streamId: number, code: number): Frame =>
  frame(Type.RST_STREAM, 0, streamId, uint32(code));

export const settings = (...parameters: readonly (readonly [number, number])[]): Frame =>
  frame(
    Type.SETTINGS,
    0,
    0,
    Buffer.concat(parameters.map(([id, value]) => Buffer.concat([uint16(id), uint32(value)]))),
  );

export const settingsAck: Frame = frame(Type.SETTINGS, ACK, 0);

export const pushPromise = (streamId: number, promised: number, fields: readonly Pair[]): Frame =>
  frame(Type.PUSH_PROMISE, END_HEADERS, streamId, Buffer.concat([uint32(promised), block(fields)]));

export const ping = (opaqueData: string): Frame => frame(Type.PING, 0, 0, opaqueData);
export const pingAck = (opaqueData: string | Buffer): Frame => frame(Type.PING, ACK, 0, opaqueData);

export const goAway = (lastStreamId: number, code: number, debugData = ''): Frame =>
  frame(
    Type.GOAWAY,
    0,
    0,
    Buffer.concat([uint32(lastStreamId), uint32(code), Buffer.from(debugData)]),
  );

export const windowUpdate = (streamId: number, increment: number): Frame =>
  frame(Type.WINDOW_UPDATE, 0, streamId, uint32(increment));

/** The same frame with padding; `said`: what Pad Length claims. */
export const padded = (bare: Frame, octets: number, said = octets): Frame => ({
  ...bare,
  flags: bare.flags | PADDED,
  payload: Buffer.concat([Buffer.from([said]), bare.payload, Buffer.alloc(octets)]),
});

/** HEADERS with the five octets of priority that RFC 7540 allowed. */
export const prioritized = (bare: Frame): Frame => ({
  ...bare,
  flags: bare.flags | PRIORITY,
  payload: Buffer.concat([uint32(0x8000_0000), Buffer.from([15]), bare.payload]),
});

/** On the wire. `saidOctets`: what the length claims. */
export function octetsOf(octets: Octets, saidOctets?: number): Buffer {
  if (Buffer.isBuffer(octets)) return octets;
  const { type, flags, streamId, payload } = octets;
  const head = Buffer.alloc(HEAD_OCTETS);
  head.writeUIntBE(saidOctets ?? payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(streamId >>> 0, 5);
  return Buffer.concat([head, payload]);
}

/** For a reader, and to compare by. */
export function describe({ type, flags, streamId, payload }: Frame): string {
  const name = Object.entries(Type).find(([, value]) => value === type)?.[0] ?? `type ${type}`;
  const text =
    payload.length <= SHOWN_OCTETS_MAX
      ? payload.toString('hex')
      : `${payload.length} octets, ${createHash('sha256').update(payload).digest('hex')}`;
  return `${name} flags=${flags} stream=${streamId} payload=${text}`;
}

export function uint32(value: number): Buffer {
  const octets = Buffer.alloc(4);
  octets.writeUInt32BE(value >>> 0);
  return octets;
}

function uint16(value: number): Buffer {
  const octets = Buffer.alloc(2);
  octets.writeUInt16BE(value);
  return octets;
}
