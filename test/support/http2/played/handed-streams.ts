/**
 * Which requests a peer may have seen: those whose HEADERS were handed to the socket, taken or not.
 */

import { HEAD_OCTETS, Type } from '../frames.ts';
import type { SlowSocket } from '../slow-socket.ts';

const PREFACE_OCTETS = 24;

export function handedStreams(socket: SlowSocket): ReadonlySet<number> {
  const octets = Buffer.concat(socket.handed);
  const streams = new Set<number>();
  for (let at = PREFACE_OCTETS; at + HEAD_OCTETS <= octets.length; ) {
    if (octets[at + 3] === Type.HEADERS) streams.add(octets.readUInt32BE(at + 5));
    at += HEAD_OCTETS + octets.readUIntBE(at, 3);
  }
  return streams;
}
