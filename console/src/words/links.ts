/** The rooms in the order of the rail, for a role, and those that a role may not open. */

import type { Membership } from '../api/console-api.ts';
import { roomPath, SYSTEM_PATH } from '../state/route.svelte.ts';
import { navigationTexts as texts } from '../texts/common.ts';
import { roleTexts } from '../texts/roles.ts';

export interface RoomLink {
  readonly room: string;
  readonly path: string;
  readonly label: string;
  /** Its name where there is little room. */
  readonly short?: string;
  /** On a phone it stands on the page "More". */
  readonly isMore: boolean;
  /** A line above it. */
  readonly isSecond: boolean;
}

interface Way {
  readonly room: string;
  readonly label: string;
  readonly short?: string;
  readonly isMore?: boolean;
  readonly isSecond?: boolean;
  readonly isFor?: 'owner' | 'publisher' | 'operator';
}

const WAYS: readonly Way[] = [
  { room: 'overview', label: texts.overview },
  { room: 'send', label: texts.send, short: texts.sendShort, isFor: 'publisher' },
  { room: 'notifications', label: texts.notifications },
  { room: 'tags', label: texts.tags },
  { room: 'segments', label: texts.segments, isMore: true },
  { room: 'attributes', label: texts.attributes, isMore: true },
  { room: 'devices', label: texts.devices, isMore: true },
  { room: 'bulk', label: texts.bulk, isMore: true },
  { room: 'apps', label: texts.apps },
  { room: 'templates', label: texts.templates, isMore: true },
  { room: 'keys', label: texts.keys, isMore: true, isSecond: true, isFor: 'owner' },
  { room: 'team', label: texts.team, isMore: true, isFor: 'owner' },
  { room: 'webhooks', label: texts.webhooks, isMore: true, isFor: 'owner' },
  { room: 'audit', label: texts.audit, isMore: true, isFor: 'owner' },
  { room: 'settings', label: texts.settings, isMore: true, isFor: 'owner' },
  { room: 'system', label: texts.system, isMore: true, isFor: 'operator' },
];

/** The pages that this member may open, or an operator who is no client's member. */
export function linksOf(member: Membership | undefined, isOperator: boolean): readonly RoomLink[] {
  return WAYS.filter((way) => isOpenTo(way, member, isOperator)).map((way) => ({
    room: way.room,
    path:
      member === undefined || way.isFor === 'operator'
        ? SYSTEM_PATH
        : roomPath(member.clientId, way.room),
    label: way.label,
    ...(way.short === undefined ? {} : { short: way.short }),
    isMore: member !== undefined && (way.isMore ?? false),
    isSecond: way.isSecond ?? false,
  }));
}

export interface Closed {
  readonly label: string;
  /** Who may open it, and what to do. */
  readonly why: string;
}

/** A room that this member may not open; null: it is open, or there is none. */
export function closedTo(
  room: string,
  member: Membership | undefined,
  isOperator: boolean,
): Closed | null {
  const way = WAYS.find((one) => one.room === room);
  if (way?.isFor === undefined || isOpenTo(way, member, isOperator)) return null;
  if (way.isFor === 'operator') return { label: way.label, why: roleTexts.operatorsOnly };
  if (member === undefined) return null;
  return { label: way.label, why: whyNot(member, way.isFor) };
}

/** The text for a member who has followed a link to a page for others. */
export const whyNot = ({ role }: Membership, isFor: 'owner' | 'publisher'): string =>
  roleTexts.notAllowed(roleTexts[role].name, roleTexts.who[isFor]);

/** Why the button of an action that is for others is greyed; '': this member may. */
export const whyNotFor = (member: Membership, isFor: 'owner' | 'publisher'): string =>
  isOpenTo({ isFor }, member, false) ? '' : roleTexts.onlyFor(roleTexts.who[isFor]);

function isOpenTo(
  { isFor }: Pick<Way, 'isFor'>,
  member: Membership | undefined,
  isOperator: boolean,
): boolean {
  if (isFor === 'operator') return isOperator;
  if (member === undefined) return false;
  switch (isFor) {
    case 'owner':
      return member.role === 'owner';
    case 'publisher':
      return member.role !== 'viewer';
    default:
      return true;
  }
}
