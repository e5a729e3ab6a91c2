/**
 * Field blocks as the scripted peer writes them (RFC 7541, 5 and 6): by hand, in the plainest way
 * unless a test wants another.
 */

export type Pair = readonly [name: string, value: string];

/** Each field a literal without indexing, the name spelled out, nothing Huffman coded. */
export const block = (fields: readonly Pair[]): Buffer =>
  Buffer.concat(fields.map(([name, value]) => literal(name, value)));

/** 6.2.2; with `0x10` as first octet 6.2.3. */
export const literal = (name: string, value: string, firstOctet = 0x00): Buffer =>
  Buffer.concat([Buffer.from([firstOctet]), string(name), string(value)]);

/** 6.2.1: goes into the dynamic table. */
export const inserted = (name: string, value: string): Buffer => literal(name, value, 0x40);

/** 6.2.1 with the name of an entry. */
export const insertedByIndex = (index: number, value: string): Buffer =>
  Buffer.concat([integer(index, 6, 0x40), string(value)]);

/** 6.1: a field out of a table. */
export const indexed = (index: number): Buffer => integer(index, 7, 0x80);

/** 6.3 */
export const sizeUpdate = (octets: number): Buffer => integer(octets, 5, 0x20);

/** 5.2, not Huffman coded. */
export const string = (text: string): Buffer => {
  const octets = Buffer.from(text, 'latin1');
  return Buffer.concat([integer(octets.length, 7, 0x00), octets]);
};

/** 5.1 */
export function integer(value: number, prefixBits: number, firstOctet: number): Buffer {
  const prefixMax = 2 ** prefixBits - 1;
  if (value < prefixMax) return Buffer.from([firstOctet + value]);
  const octets = [firstOctet + prefixMax];
  let rest = value - prefixMax;
  while (rest >= 128) {
    octets.push(128 + (rest % 128));
    rest = Math.floor(rest / 128);
  }
  return Buffer.from([...octets, rest]);
}
