/** The common part of senders: checks the token's form and hands the send to the transport. */

import type { DeviceToken } from '../domain/device.ts';
import type { Message } from '../domain/notification.ts';
import type { Outcome } from '../domain/outcome.ts';
import { HexOctets } from '../std/hex-octets.ts';
import type { Rendered, RequestTemplate, Settle, Transport } from '../transport/transport.ts';
import type { Sender } from './sender.ts';
import { Unsent } from './unsent.ts';

interface RequestForm<R extends Rendered> {
  render(message: Message): R;
  templateFor(rendered: R, deviceId: DeviceToken): RequestTemplate;
  /** The token as the request holds it, or the outcome if this provider takes no such token. */
  tokenOf(deviceId: DeviceToken): DeviceToken | Outcome;
}

export class ProviderSender<R extends Rendered> implements Sender {
  readonly #form: RequestForm<R>;
  readonly #transport: Transport;
  readonly #unsent = new Unsent();

  constructor(form: RequestForm<R>, transport: Transport) {
    this.#form = form;
    this.#transport = transport;
  }

  get capacity(): number {
    return this.#transport.capacity;
  }

  render(message: Message): R {
    return this.#form.render(message);
  }

  whenReady(): Promise<void> {
    return this.#transport.whenReady();
  }

  send(rendered: R, deviceId: DeviceToken, position: number, settle: Settle): void {
    const token = this.#form.tokenOf(deviceId);
    if (!isToken(token)) {
      this.#unsent.settle(position, settle, token);
      return;
    }
    const template = this.#form.templateFor(rendered, deviceId);
    this.#transport.send(template, token, position, settle);
  }

  warm(connections: number): void {
    this.#transport.warm(connections);
  }

  authorize(authorization: string): void {
    this.#transport.authorize(authorization);
  }

  async close(): Promise<void> {
    await this.#transport.close();
    await this.#unsent.settled();
  }
}

const isToken = (token: DeviceToken | Outcome): token is DeviceToken =>
  typeof token === 'string' || token instanceof HexOctets;
