/**
 * Chance that can be repeated: a draw depends only on the seed and its purpose, never on the order
 * in which requests arrive.
 */

/**
 * A number in [0, 1) for this seed, purpose and attempt: FNV-1a over the text, finished as murmur3
 * is.
 */
export function draw(seed: number, text: string, attempt: number): number {
  let hash = Math.imul(seed ^ 0x811c9dc5, 0x01000193);
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ attempt, 0x01000193);
  // FNV alone leaves the high bits of similar tokens alike, and the shares would come out wrong.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
