/**
 * SETTINGS (RFC 9113, 6.5): an endpoint's demands on its peer. Each value is checked here, before
 * it is applied.
 */

import { ConnectionError, ErrorCode } from '../error.ts';
import { Flag, FRAME_HEAD_OCTETS, FrameType, readUint32, writeFrameHead } from './head.ts';

/** RFC 9113, 6.5.2. */
export const Setting = Object.freeze({
  HEADER_TABLE_SIZE: 0x1,
  ENABLE_PUSH: 0x2,
  MAX_CONCURRENT_STREAMS: 0x3,
  INITIAL_WINDOW_SIZE: 0x4,
  MAX_FRAME_SIZE: 0x5,
  MAX_HEADER_LIST_SIZE: 0x6,
});

/** One parameter: an identifier, which may be unknown to us (6.5.2: ignored), and its value. */
export type Parameter = readonly [identifier: number, value: number];

export const INITIAL_WINDOW_OCTETS = 65_535;
/** 6.9.1: no window may grow larger. */
export const WINDOW_OCTETS_MAX = 2 ** 31 - 1;
/** The initial value of MAX_FRAME_SIZE, and its least (6.5.2). */
export const FRAME_OCTETS_MAX = 16_384;
const FRAME_OCTETS_MAX_OF_ALL = 2 ** 24 - 1;

const PARAMETER_OCTETS = 6;

/**
 * The parameters in the order they came, which is the order to apply them in (6.5.3); null: an
 * acknowledgement.
 */
export function loadSettings(
  flags: number,
  streamId: number,
  bytes: Buffer,
  start: number,
  end: number,
): readonly Parameter[] | null {
  if (streamId !== 0) throw new ConnectionError(ErrorCode.PROTOCOL_ERROR, 'SETTINGS on a stream');
  if ((flags & Flag.ACK) !== 0) {
    if (start === end) return null;
    throw new ConnectionError(ErrorCode.FRAME_SIZE_ERROR, 'SETTINGS ACK with a payload');
  }
  if ((end - start) % PARAMETER_OCTETS !== 0) {
    throw new ConnectionError(ErrorCode.FRAME_SIZE_ERROR, 'SETTINGS is not a multiple of 6 octets');
  }
  const parameters: Parameter[] = [];
  for (let at = start; at < end; at += PARAMETER_OCTETS) {
    const identifier = bytes.readUInt16BE(at);
    const value = readUint32(bytes, at + 2);
    checkValue(identifier, value);
    parameters.push([identifier, value]);
  }
  return parameters;
}

/** 6.5.2: values outside of their range end the connection. */
function checkValue(identifier: number, value: number): void {
  switch (identifier) {
    case Setting.ENABLE_PUSH:
      if (value > 1) throw new ConnectionError(ErrorCode.PROTOCOL_ERROR, `ENABLE_PUSH ${value}`);
      return;
    case Setting.INITIAL_WINDOW_SIZE:
      if (value > WINDOW_OCTETS_MAX) {
        throw new ConnectionError(ErrorCode.FLOW_CONTROL_ERROR, `INITIAL_WINDOW_SIZE ${value}`);
      }
      return;
    case Setting.MAX_FRAME_SIZE:
      if (value < FRAME_OCTETS_MAX || value > FRAME_OCTETS_MAX_OF_ALL) {
        throw new ConnectionError(ErrorCode.PROTOCOL_ERROR, `MAX_FRAME_SIZE ${value}`);
      }
      return;
    default:
      return;
  }
}

export function settingsFrame(parameters: readonly Parameter[]): Buffer {
  const length = parameters.length * PARAMETER_OCTETS;
  const frame = Buffer.alloc(FRAME_HEAD_OCTETS + length);
  const head = { length, type: FrameType.SETTINGS, flags: Flag.NONE, streamId: 0 };
  let at = writeFrameHead(frame, 0, head);
  for (const [identifier, value] of parameters) {
    at = frame.writeUInt16BE(identifier, at);
    at = frame.writeUInt32BE(value, at);
  }
  return frame;
}

/** 6.5.3: sent when all of a SETTINGS frame has been applied. */
export const SETTINGS_ACK = Buffer.from([0, 0, 0, FrameType.SETTINGS, Flag.ACK, 0, 0, 0, 0]);
