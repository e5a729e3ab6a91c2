/**
 * The Huffman code of strings (RFC 7541, 5.2, appendix B): tables built at load, one look-up per
 * octet in both directions.
 */

import { compressionError } from './compression-error.ts';
import { EOS_CODE_BITS, HUFFMAN_CODE_BITS } from './huffman-codes.ts';

/** The octets that `text`, which must be Latin-1, has when it is coded. */
export function huffmanOctets(text: string): number {
  let bits = 0;
  for (let index = 0; index < text.length; index += 1) bits += BITS[text.charCodeAt(index)] ?? 0;
  return (bits + 7) >>> 3;
}

/** Writes `text`, which must be Latin-1; returns the offset after it. */
export function huffmanEncode(text: string, into: Buffer, offset: number): number {
  const writer = new BitWriter(into, offset);
  for (let index = 0; index < text.length; index += 1) {
    const octet = text.charCodeAt(index);
    const bits = BITS[octet] ?? 0;
    const code = CODES[octet] ?? 0;
    if (bits <= PUT_BITS_MAX) writer.put(code, bits);
    else {
      writer.put(code >>> 16, bits - 16);
      writer.put(code & 0xffff, 16);
    }
  }
  return writer.pad();
}

/**
 * The room that decoding needs: the shortest code has five bits, and each step writes two octets
 * whether they count or not.
 */
export const huffmanDecodedRoom = (octets: number): number => Math.floor((octets * 8) / 5) + 2;

/**
 * Decodes bytes[start, end) to the beginning of `into`; returns the number of octets written there.
 */
export function huffmanDecode(bytes: Buffer, start: number, end: number, into: Buffer): number {
  let node = 0;
  let length = 0;
  for (let offset = start; offset < end; offset += 1) {
    const step = STEPS[(node << 8) | (bytes[offset] ?? 0)] ?? EOS_REACHED;
    if (step === EOS_REACHED) throw compressionError('EOS inside a Huffman-coded string');
    into[length] = step >>> 8;
    into[length + 1] = step >>> 16;
    length += step >>> 24;
    node = step & 0xff;
  }
  if (node > PADDING_BITS_MAX) {
    throw compressionError('a Huffman-coded string does not end in up to seven ones');
  }
  return length;
}

/** The symbol after the 256 octets. */
const EOS = 256;

/** More padding than this is an error (RFC 7541, 5.2). */
const PADDING_BITS_MAX = 7;

/** The bits that a `BitWriter` takes at once: it may hold 7 bits already, and has 32. */
const PUT_BITS_MAX = 24;

class BitWriter {
  readonly #into: Buffer;
  #offset: number;
  #held = 0;
  #heldBits = 0;

  constructor(into: Buffer, offset: number) {
    this.#into = into;
    this.#offset = offset;
  }

  put(code: number, bits: number): void {
    // Bits that were written already leave at the top.
    this.#held = (this.#held << bits) | code;
    this.#heldBits += bits;
    while (this.#heldBits >= 8) {
      this.#heldBits -= 8;
      this.#into[this.#offset] = this.#held >>> this.#heldBits;
      this.#offset += 1;
    }
  }

  /**
   * Fills the last octet with the first bits of EOS, which are ones; returns the offset after it.
   */
  pad(): number {
    if (this.#heldBits > 0) this.put(0xff >>> this.#heldBits, 8 - this.#heldBits);
    return this.#offset;
  }
}

/**
 * The length in bits of each symbol's code, and the codes. They are canonical: each is the one
 * before it plus one, shifted to its length.
 */
const BITS = Uint8Array.from([...HUFFMAN_CODE_BITS, EOS_CODE_BITS]);
const CODES = makeCodes();

function makeCodes(): Uint32Array {
  const codes = new Uint32Array(BITS.length);
  const symbols = [...BITS.keys()].sort((a, b) => bitsOf(a) - bitsOf(b) || a - b);
  let next = 0;
  let bits = 0;
  for (const symbol of symbols) {
    next <<= bitsOf(symbol) - bits;
    bits = bitsOf(symbol);
    codes[symbol] = next;
    next += 1;
  }
  return codes;
}

/** Each inner node's two children, side by side: a node, or `~symbol`. */
const TREE = makeTree();

/** The code is complete, so there is one inner node less than there are symbols. */
const NODES = EOS;

/**
 * EOS is added first, so that nodes 0 to 7 are the root and its descendants along up to seven ones:
 * a string may end in these.
 */
function makeTree(): Int16Array {
  const tree = new Int16Array(2 * EOS);
  let nodes = 1;
  for (const symbol of [EOS, ...HUFFMAN_CODE_BITS.keys()]) {
    const code = CODES[symbol] ?? 0;
    let node = 0;
    for (let bit = bitsOf(symbol) - 1; bit > 0; bit -= 1) {
      const place = 2 * node + ((code >>> bit) & 1);
      if (tree[place] === 0) {
        tree[place] = nodes;
        nodes += 1;
      }
      node = tree[place] ?? 0;
    }
    tree[2 * node + (code & 1)] = ~symbol;
  }
  return tree;
}

/**
 * For each inner node and each octet that may come: the next node (8 bits), two octets of text (8
 * bits each), and the number of them that count. Eight bits never complete more than two codes.
 * This is one look-up per octet, with a table sixteen times as large as for one look-up per four
 * bits.
 */
const STEPS = new Int32Array(NODES << 8);
const EOS_REACHED = -1;
for (let node = 0; node < NODES; node += 1) fillSteps(node, node << 8, 8, 0, 0);

/**
 * Fills the steps of the octets that begin with the bits which led to `child`; `bits` are to come.
 */
function fillSteps(child: number, first: number, bits: number, text: number, count: number): void {
  if (child === ~EOS) {
    STEPS.fill(EOS_REACHED, first, first + (1 << bits));
  } else if (child < 0) {
    fillSteps(0, first, bits, text | (~child << (8 * count)), count + 1);
  } else if (bits === 0) {
    STEPS[first] = (count << 24) | (text << 8) | child;
  } else {
    fillSteps(TREE[2 * child] ?? 0, first, bits - 1, text, count);
    fillSteps(TREE[2 * child + 1] ?? 0, first + (1 << (bits - 1)), bits - 1, text, count);
  }
}

function bitsOf(symbol: number): number {
  return BITS[symbol] ?? 0;
}
