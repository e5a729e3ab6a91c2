/** Which role may speak which API: the table of spec/interface.md, section 2. */

import type { Caller } from '../access/caller.ts';
import type { Api } from './handler.ts';

/** Whether a caller may use an API at all. */
export function mayUse(api: Api, role: Caller['role']): boolean {
  switch (api) {
    case 'app':
      return role === 'api-user';
    case 'notification':
    case 'admin':
      return role === 'super-user';
  }
}

/** Whether answers of this API tell who came with Basic that it is deprecated. On the App API it is in shipped apps. */
export function tellsDeprecation(api: Api): boolean {
  switch (api) {
    case 'app':
      return false;
    case 'notification':
    case 'admin':
      return true;
  }
}
