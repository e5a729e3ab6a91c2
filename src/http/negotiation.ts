/** The form of an answer that a caller prefers (RFC 9110, 12.5.1 and 12.5.3). */

/** Whether the caller prefers JSON to plain text. A tie, and a missing header, mean text. */
export const prefersJson = (accept: string): boolean =>
  qualityOf(accept, 'application/json') > qualityOf(accept, 'text/plain');

/** Whether the caller takes gzip, however it prefers others. */
export const acceptsGzip = (acceptEncoding: string): boolean =>
  qualityOf(acceptEncoding, 'gzip') > 0;

export type Coding = 'br' | 'gzip';

/** In a tie the smaller one; null: none accepted, or an uncompressed body preferred. */
export function preferredCoding(acceptEncoding: string): Coding | null {
  const brotli = qualityOf(acceptEncoding, 'br');
  const gzip = qualityOf(acceptEncoding, 'gzip');
  const best = Math.max(brotli, gzip);
  if (best === 0 || best < qualityOf(acceptEncoding, 'identity')) return null;
  return brotli === best ? 'br' : 'gzip';
}

/** The most specific entry counts. Parameters but `q` are ignored, such as `charset=utf-8`. */
function qualityOf(header: string, name: string): number {
  const patterns = name.includes('/') ? [name, `${name.split('/')[0]}/*`, '*/*'] : [name, '*'];
  const entries = header.split(',').map((entry) => {
    const [pattern = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
    return { pattern, quality: QUALITY.test(quality) ? Number(quality) : 0 };
  });
  for (const pattern of patterns) {
    const entry = entries.find((candidate) => candidate.pattern === pattern);
    if (entry !== undefined) return entry.quality;
  }
  return 0;
}

const QUALITY = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;
