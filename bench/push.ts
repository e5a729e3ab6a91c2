/** The push that every client sends: one message, to one device after the other. */

import type { Message } from '../src/domain/notification.ts';
import { renderApns } from '../src/senders/apns/message.ts';
import type { RequestTemplate } from '../src/senders/transport.ts';
import type { Sink } from './sinks/sink.ts';

/** Shown to the user; with the JSON around it the body has 110 bytes. */
export const ALERT = {
  title: 'Goal!',
  body: 'Ninety minutes and four more: the visitors turned it around, 2:1.',
} as const;

const MESSAGE: Message = {
  notificationId: 'bench',
  payload: { title: ALERT.title, message: ALERT.body, data: {} },
  expiresAtMs: null,
  dueAtMs: 0,
};

/** The request, as the engine would send it, for clients that are not told a message but a request. */
export const renderPush = ({ credential }: Sink): RequestTemplate =>
  renderApns(MESSAGE, credential, 0);
