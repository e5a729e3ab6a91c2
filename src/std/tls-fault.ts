/** Says in words why TLS with a server does not begin, and what to set. */

import { errorReason } from '../../packages/std/src/error-reason.ts';

const UNTRUSTED = /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+)$/;
const OUT_OF_DATE = /^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/;
const OTHER_NAME = 'ERR_TLS_CERT_ALTNAME_INVALID';
/** OpenSSL reads an answer in plain text as the head of a record. */
const PLAIN_ANSWER = /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|RECORD_\w+)$/;
/** Node's words, when the server closes the connection instead. */
const CLOSED = /before secure TLS connection was established/;

interface TlsAdvice {
  /** How its certificate becomes a trusted one. */
  readonly trust: string;
  /** How to do without TLS. */
  readonly plain: string;
}

/** For programs that connect by the TLS of Node.js and have no setting of their own. */
export const TRUST_BY_NODE = 'name the PEM file of its authority in NODE_EXTRA_CA_CERTS';

/** Whether the certificate of a server was refused: nothing was sent to it, and nothing will be. */
export function isCertificateRefused(error: unknown): boolean {
  const code = errorReason(error);
  return UNTRUSTED.test(code) || OUT_OF_DATE.test(code) || code === OTHER_NAME;
}

/** Null: TLS is not at fault. */
export function tlsFault(error: unknown, { trust, plain }: TlsAdvice): string | null {
  const code = errorReason(error);
  if (UNTRUSTED.test(code)) return `no authority trusted here has signed its certificate: ${trust}`;
  if (OUT_OF_DATE.test(code)) return 'its certificate is out of date, or the clock here is wrong';
  if (code === OTHER_NAME) return 'its certificate is for another name: use one that it has';
  const isPlain = PLAIN_ANSWER.test(code) || (error instanceof Error && CLOSED.test(error.message));
  return isPlain ? `it does not offer TLS there: ${plain}` : null;
}
