/** A one-time link, as the routes that make one answer it. */

import { z } from 'zod';
import { epochMs } from '../../http/openapi/parts.ts';
import type { Done } from '../../http/result.ts';
import { done } from '../../http/result.ts';
import type { MadeLink } from '../accounts/links.ts';

interface ShownLink {
  readonly link: string;
  readonly expiresAt: number;
}

export const link = z.object({
  link: z
    .string()
    .meta({ description: 'A path, for the origin under which the console is reached.' }),
  expiresAt: epochMs,
});

/** The example of a link of this kind. */
export const exampleOf = (kind: 'invitation' | 'sign-up' | 'reset'): ShownLink => ({
  link: `/console/#/${kind}/tcl_…`,
  expiresAt: 1_795_392_000_000,
});

/** The caller makes an address of the path: it knows under which one the console is reached. */
export const shownLink = ({ path, expiresAtMs }: MadeLink): Done<ShownLink> =>
  done({ link: path, expiresAt: expiresAtMs });
