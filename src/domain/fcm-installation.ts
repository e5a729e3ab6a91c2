/** Firebase Installation IDs, with which registration tokens begin. */

const INSTALLATION_ID_LENGTH = 22;
/** base64url whose first four bits are 0111. A registration token is longer, and has a colon. */
const INSTALLATION_ID = /^[c-f][\w-]{21}$/;

/** Called for every send: the length alone decides for nearly all tokens. */
export const isInstallationId = (text: string): boolean =>
  text.length === INSTALLATION_ID_LENGTH && INSTALLATION_ID.test(text);

/** The installation in a registration token (`<id>:APA91b…`); null: the token names none. */
export function installationOfToken(deviceId: string): string | null {
  if (deviceId[INSTALLATION_ID_LENGTH] !== ':') return null;
  const id = deviceId.slice(0, INSTALLATION_ID_LENGTH);
  return INSTALLATION_ID.test(id) ? id : null;
}
