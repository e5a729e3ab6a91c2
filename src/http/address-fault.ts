/** Checks that the service can listen before the database is opened, which may take long. */

import { createServer } from 'node:net';
import { CERTIFICATE_FAULT } from '../../packages/http1-uws/src/listener.ts';
import { SettingFault } from '../std/setting-fault.ts';

interface Address {
  readonly host: string;
  readonly port: number;
}

/** Listens for a moment. Null: that worked. */
export function addressFault(address: Address): Promise<SettingFault | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(listenFault(address, error)));
    server.listen(address, () => server.close(() => resolve(null)));
  });
}

export const listenFault = (address: Address, error: NodeJS.ErrnoException): SettingFault =>
  new SettingFault(sentenceOf(address, error), { cause: error });

function sentenceOf({ host, port }: Address, { code, message }: NodeJS.ErrnoException): string {
  switch (code) {
    case 'EADDRINUSE':
      return `PORT: ${port} is in use on ${host}: stop the process that listens there, or choose another port.`;
    case 'EACCES':
      return `PORT: ${port} is not allowed for this user: choose one above 1023, or grant the right.`;
    case 'EADDRNOTAVAIL':
      return `HOST: ${host} is not an address of this machine: use one of its own.`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `HOST: ${host} cannot be resolved: use an address of this machine.`;
    case CERTIFICATE_FAULT:
      return 'TLS_CERT_FILE: uWebSockets.js cannot use it, or not with TLS_KEY_FILE: use a certificate of an RSA or P-256 key, or set HTTP_FRONT to node.';
    default:
      return `HOST: cannot listen on ${host}, port ${port}: ${message}.`;
  }
}
