/** Hides in the events of a device which sends they are of. */

/** Without the ids of these sends: the caller may not know that the device was to get them. */
export const withoutIds = <Event extends { readonly notificationId: string | null }>(
  events: readonly Event[],
  hidden: ReadonlySet<string>,
): readonly Event[] =>
  events.map((one) =>
    hidden.has(one.notificationId ?? '') ? { ...one, notificationId: null } : one,
  );
