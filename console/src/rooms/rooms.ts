/**
 * Which room an address leads to. Each is loaded when it is opened first, with what it alone needs.
 */

import type { Component } from 'svelte';
import type { ClientApi } from '../api/client.ts';
import type { Membership } from '../api/console-api.ts';

/** The properties of a page of a client. */
export interface RoomProps {
  readonly api: ClientApi;
  readonly member: Membership;
  /** The parts of the address after the page's name: `apps/1/platforms` has 1 and platforms. */
  readonly parts: readonly string[];
}

type Load<Props extends Record<string, unknown>> = () => Promise<{
  readonly default: Component<Props>;
}>;

/** Keyed by the first part after the client. */
const ROOMS: Readonly<Record<string, Load<RoomProps & Record<string, unknown>>>> = {
  overview: () => import('./overview.svelte'),
  send: () => import('./send.svelte'),
  notifications: () => import('./notifications.svelte'),
  tags: () => import('./tags.svelte'),
  segments: () => import('./segments.svelte'),
  attributes: () => import('./attributes.svelte'),
  devices: () => import('./devices.svelte'),
  bulk: () => import('./bulk.svelte'),
  apps: () => import('./apps.svelte'),
  templates: () => import('./templates.svelte'),
  keys: () => import('./keys.svelte'),
  team: () => import('./team.svelte'),
  audit: () => import('./audit.svelte'),
  webhooks: () => import('./webhooks.svelte'),
  settings: () => import('./settings.svelte'),
};

/** The room of this name; undefined: there is none. */
export const roomOf = (name: string): Load<RoomProps & Record<string, unknown>> | undefined =>
  Object.hasOwn(ROOMS, name) ? ROOMS[name] : undefined;
