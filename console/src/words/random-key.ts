/** An idempotency key. Pages without TLS have no `randomUUID`. */

const OCTETS = 16;

export const randomKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(OCTETS))]
    .map((octet) => octet.toString(16).padStart(2, '0'))
    .join('');
