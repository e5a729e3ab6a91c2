/**
 * The time zone of a client: that of its devices without one. Clients cannot set it yet, so it is
 * UTC for each of them; their policies are to have it.
 */
export const timezoneOf = (_clientId: number): string => 'UTC';
