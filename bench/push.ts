/** The push that every client sends: one message, to one device after the other. */

import type { Message } from '../src/domain/notification.ts';
import { renderApns } from '../src/providers/apns/message.ts';
import type { RequestTemplate } from '../src/transport/transport.ts';
import type { Sink } from './sinks/sink.ts';

/** Shown to the user; with the JSON around it the body has 110 bytes. */
export const ALERT = {
  title: 'Goal!',
  body: 'Ninety minutes and four more: the visitors turned it around, 2:1.',
} as const;

/** Longer, where windows are measured: the body has 200 bytes at APNs. */
const STORY = `${ALERT.body} They had not won here since the spring of the year before, nor did it look like it today.`;

const messageOf = (title: string, message: string): Message => ({
  notificationId: 'bench',
  payload: { title, message, data: {} },
  expiresAtMs: null,
  dueAtMs: 0,
});

export const NEWS: Message = messageOf(ALERT.title, STORY);

/** The request, in the engine's form, for clients that take a request instead of a message. */
export const renderPush = ({ credential }: Sink): RequestTemplate =>
  renderApns(messageOf(ALERT.title, ALERT.body), credential, 0);
