/** The refusal of attributes that cannot be kept now. */

import { refused } from '../../http/result.ts';

export const ATTRIBUTES_LATER = refused(
  503,
  'A node of an earlier version is at work, which would lose what is set, or a value cannot be kept now. Try again.',
  { headers: { 'Retry-After': '10' } },
);
