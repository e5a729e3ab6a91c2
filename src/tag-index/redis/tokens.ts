/**
 * Tokens of a block of 128 devices as one string: the number of slots (one octet), then each slot's
 * length (two octets; 0: no device; highest bit: hexadecimal, kept as octets) and octets.
 */

import type { DeviceToken } from '../../domain/device.ts';
import { BLOCK_DEVICES } from '../../domain/device.ts';
import { HexOctets } from '../../std/hex-octets.ts';
import type { DeviceIds } from '../tag-index.ts';

const LENGTH_OCTETS = 2;
const HEX_BIT = 0x8000;
/** A deviceId has at most 4,096 UTF-16 units, 12,288 octets of UTF-8. */
const LENGTH_BITS = 0x7fff;
/** Lower case only: upper case would come back as another text. */
const HEX = /^[0-9a-f]+$/;

/** Slot and token; null: no device is left in the slot. */
export type SlotToken = readonly [slot: number, deviceId: string | null];

/** A block's string. Slots in rising order. */
export function encodeBlock(tokens: readonly SlotToken[]): Buffer {
  const slots = (tokens.at(-1)?.[0] ?? -1) + 1;
  let length = 1 + LENGTH_OCTETS * (slots - tokens.length);
  for (const [, deviceId] of tokens) length += recordLength(deviceId);
  const block = Buffer.alloc(length);
  block[0] = slots;
  let at = 1;
  let next = 0;
  for (const [slot, deviceId] of tokens) {
    // The records of empty slots are zeros.
    at = writeRecord(block, at + LENGTH_OCTETS * (slot - next), deviceId);
    next = slot + 1;
  }
  return block;
}

/** Edits of a block as the script reads them: slot (one octet) and record, again and again. */
export function encodeSlots(tokens: readonly SlotToken[]): Buffer {
  let length = 0;
  for (const [, deviceId] of tokens) length += 1 + recordLength(deviceId);
  const edits = Buffer.allocUnsafe(length);
  let at = 0;
  for (const [slot, deviceId] of tokens) {
    edits[at] = slot;
    at = writeRecord(edits, at + 1, deviceId);
  }
  return edits;
}

/** An odd number of digits does not fit into octets. */
const isHex = (deviceId: string): boolean => deviceId.length % 2 === 0 && HEX.test(deviceId);

function recordLength(deviceId: string | null): number {
  if (deviceId === null) return LENGTH_OCTETS;
  const octets = isHex(deviceId) ? deviceId.length / 2 : Buffer.byteLength(deviceId);
  return LENGTH_OCTETS + octets;
}

/** Answers where the next record begins. */
function writeRecord(block: Buffer, at: number, deviceId: string | null): number {
  if (deviceId === null) return block.writeUInt16BE(0, at);
  const hex = isHex(deviceId);
  const octets = block.write(deviceId, at + LENGTH_OCTETS, hex ? 'hex' : 'utf8');
  return block.writeUInt16BE(octets | (hex ? HEX_BIT : 0), at) + octets;
}

/**
 * Tokens of some devices of a group, kept as octets and decoded when asked for: strings of a
 * waiting chunk would outlive two collections.
 */
export class BlockTokens implements DeviceIds {
  #length = 0;
  readonly #blocks: Buffer[] = [];
  /** Indexed by position: the index of the block, and the start of the record in it. */
  readonly #blockAt: Uint8Array;
  readonly #recordAt: Uint32Array;

  constructor(lengthMax: number) {
    this.#blockAt = new Uint8Array(lengthMax);
    this.#recordAt = new Uint32Array(lengthMax);
  }

  get length(): number {
    return this.#length;
  }

  /** Finds the tokens of `offsets` from `from` to before `to`. False: one is missing. */
  find(block: Buffer, offsets: Uint16Array, from: number, to: number): boolean {
    const slots = block[0] ?? 0;
    let slot = 0;
    let at = 1;
    for (let position = from; position < to; position += 1) {
      const wanted = (offsets[position] ?? 0) % BLOCK_DEVICES;
      if (wanted >= slots) return false;
      for (; slot < wanted; slot += 1) at += 2 + (lengthAt(block, at) & LENGTH_BITS);
      if (lengthAt(block, at) === 0) return false;
      this.#blockAt[position] = this.#blocks.length;
      this.#recordAt[position] = at;
    }
    this.#blocks.push(block);
    this.#length = to;
    return true;
  }

  at(position: number): DeviceToken | undefined {
    const block = this.#blocks[this.#blockAt[position] ?? 0];
    const at = this.#recordAt[position];
    return block === undefined || at === undefined ? undefined : tokenOf(block, at);
  }
}

/** Every token of a block by its slot. */
export function* decodeSlots(block: Buffer): Generator<readonly [slot: number, deviceId: string]> {
  let at = 1;
  for (let slot = 0; slot < (block[0] ?? 0); slot += 1) {
    const length = lengthAt(block, at);
    if (length !== 0) yield [slot, String(tokenOf(block, at))];
    at += 2 + (length & LENGTH_BITS);
  }
}

/** The token of the record that begins at `at`. */
function tokenOf(block: Buffer, at: number): DeviceToken {
  const length = lengthAt(block, at);
  const start = at + 2;
  const end = start + (length & LENGTH_BITS);
  if ((length & HEX_BIT) !== 0) return new HexOctets(block, start, end);
  return block.toString('utf8', start, end);
}

const lengthAt = (block: Buffer, at: number): number =>
  ((block[at] ?? 0) << 8) | (block[at + 1] ?? 0);
