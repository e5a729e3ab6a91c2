/** Why a provider's host cannot be reached, as a sentence for people with the likely cause. */

/** Without a full stop. `words`: an error's code, or the connection's own words. */
export function connectFault(origin: string, words: string): string {
  const place = placeOf(origin);
  // The peer says so in the handshake, or goes on without it.
  const reason = NO_PROTOCOL_IN_COMMON.test(words) ? NO_HTTP2 : words;
  if (UNVERIFIED.has(reason)) {
    return `the certificate of ${place} does not verify (${reason}): PROVIDER_CA_FILE names certificates that are trusted besides the system's, but not for the providers' own addresses; NODE_EXTRA_CA_CERTS does for all`;
  }
  const sentence = Object.hasOwn(SENTENCES, reason) ? SENTENCES[reason] : undefined;
  if (sentence !== undefined) return `${place} ${sentence} (${reason})`;
  return reason.startsWith('ERR_SSL_') || reason === 'EPROTO'
    ? `${place} does not speak TLS as it should (${reason}): is it the right port, or is a proxy in between?`
    : `${place} cannot be reached: ${reason}`;
}

/** OpenSSL's code for the alert of a peer that wants none of the protocols that are offered. */
const NO_PROTOCOL_IN_COMMON = /ALERT_NO_APPLICATION_PROTOCOL$/;
export const NO_HTTP2 = 'the peer does not speak HTTP/2';

/** OpenSSL's codes for a certificate chain that ends in no trusted certificate. */
const UNVERIFIED: ReadonlySet<string> = new Set([
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

const NO_ANSWER = 'does not answer: is a firewall in between, or is the address wrong?';
const CUT = 'closes the connection before it has begun: is a proxy or firewall in between?';

const SENTENCES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refuses connections: nothing listens there, or a firewall says so',
  ENOTFOUND: "has no address: is the name wrong, or does this machine's DNS not know it?",
  EAI_AGAIN: "has no address at the moment: this machine's DNS does not answer",
  'the name does not resolve in time': "has no address in time: this machine's DNS does not answer",
  ETIMEDOUT: NO_ANSWER,
  'connection time-out': NO_ANSWER,
  EHOSTUNREACH: 'cannot be reached: this machine has no route to it',
  ENETUNREACH: 'cannot be reached: this machine has no route to it',
  ECONNRESET: CUT,
  'closed by the peer while connecting': CUT,
  [NO_HTTP2]:
    'has no HTTP/2, which Tagcast needs: turn it on (ALPN h2), or put a proxy that has it in front; a proxy that reads TLS may take it away',
  CERT_HAS_EXPIRED: 'has a certificate that has expired: is the clock of this machine right?',
  CERT_NOT_YET_VALID: "has a certificate that is not valid yet: is this machine's clock right?",
  ERR_TLS_CERT_ALTNAME_INVALID:
    'has a certificate for another name: is the address that of the provider?',
  'answer too large': 'answers with more than belongs there: is it the right host?',
  'no answer in time': 'has taken the request and not answered it in time',
  'connection closed before the answer': 'closed the connection before it answered',
};

/** `host:port`, always with the port: rules of firewalls need it. */
function placeOf(origin: string): string {
  if (!URL.canParse(origin)) return origin;
  const { hostname, port, protocol } = new URL(origin);
  const usualPort = protocol === 'http:' ? '80' : '443';
  return `${hostname}:${port === '' ? usualPort : port}`;
}
