/** The results of a search over everything, found in the page or in the engine's answers. */

import type { App, ListedNotification, Tag } from '../../../packages/client/src/openapi.ts';
import type { Membership } from '../api/console-api.ts';
import { roomPath } from '../state/route.svelte.ts';
import { searchTexts as texts } from '../texts/search.ts';
import { when } from './format.ts';
import type { RoomLink } from './links.ts';

export interface Find {
  /** Its own among all that is found. */
  readonly key: string;
  readonly label: string;
  /** The kind of thing that was found. */
  readonly kind: string;
  readonly path: string;
  /** A token that the room of devices is given: it is never in an address. */
  readonly deviceId?: string;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** No name is so long in one word; the shortest token, APNs', has 64 characters. */
const TOKEN = /^\S{40,}$/;
/** Apps that are shown at most: who means another types more. */
const APPS_MAX = 5;

const contains = (name: string, text: string): boolean =>
  name.toLocaleLowerCase().includes(text.toLocaleLowerCase());

/** The rooms, and what can be begun in them. */
export function findRooms(
  member: Membership,
  links: readonly RoomLink[],
  text: string,
): readonly Find[] {
  const rooms = links.map(({ room, label, path }) => ({
    key: `room-${room}`,
    label,
    kind: texts.page,
    path,
  }));
  const begun = member.role === 'owner' ? [newTag(member)] : [];
  return [...rooms, ...begun].filter(({ label }) => contains(label, text));
}

const newTag = ({ clientId }: Membership): Find => ({
  key: 'new-tag',
  label: texts.newTag,
  kind: texts.action,
  path: `${roomPath(clientId, 'tags')}?new=tag`,
});

/** A notification by its whole id, a device by its whole token. */
export function findByText({ clientId }: Membership, text: string): readonly Find[] {
  if (UUID.test(text)) {
    const path = roomPath(clientId, 'notifications', text.toLowerCase());
    return [{ key: 'notification', label: text, kind: texts.notification, path }];
  }
  if (!TOKEN.test(text)) return [];
  const path = roomPath(clientId, 'devices');
  return [{ key: 'device', label: texts.lookUp, kind: texts.device, path, deviceId: text }];
}

export const findApps = (
  { clientId }: Membership,
  apps: readonly App[],
  text: string,
): readonly Find[] =>
  apps
    .filter(({ name }) => text !== '' && contains(name, text))
    .slice(0, APPS_MAX)
    .map(({ id, name }) => ({
      key: `app-${id}`,
      label: name,
      kind: texts.app,
      path: roomPath(clientId, 'apps', id),
    }));

export const findTags = ({ clientId }: Membership, tags: readonly Tag[]): readonly Find[] =>
  tags.map(({ id, name }) => ({
    key: `tag-${id}`,
    label: name,
    kind: texts.tag,
    path: roomPath(clientId, 'tags', id),
  }));

export const findNotifications = (
  { clientId }: Membership,
  notifications: readonly ListedNotification[],
): readonly Find[] =>
  notifications.map(({ id, title = '', sendAt }) => ({
    key: `notification-${id}`,
    label: title,
    kind: texts.sentAt(when(sendAt)),
    path: roomPath(clientId, 'notifications', id),
  }));
