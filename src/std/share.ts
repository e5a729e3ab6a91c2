/** Shares a bounded resource among callers whose number is not known. */

/**
 * The part of the free that is as great as the free part of all: one alone gets 38 %, two a quarter
 * each, and a hundred leave a hundredth, where "as much as is free" leaves nothing after fifteen.
 * @limit requests and bytes of bodies under way of one address (IPv6: /64), or of one client
 * through its publishers' credentials: of what is free, as great a share as that is of all → `503`
 */
export const shareOf = (free: number, max: number): number => (free * free) / max;
