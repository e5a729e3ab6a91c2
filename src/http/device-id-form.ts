/** The form of a deviceId in a body, which is checked and left as it came. */

import { z } from 'zod';
import { DEVICE_ID_LENGTH_MAX, isDeviceId } from '../domain/device.ts';

export const deviceId = z
  .custom<string>(
    isDeviceId,
    `must be a string of 1–${DEVICE_ID_LENGTH_MAX} characters, without NUL`,
  )
  .meta({
    type: 'string',
    minLength: 1,
    maxLength: DEVICE_ID_LENGTH_MAX,
    description: 'As its app registered it.',
  });
