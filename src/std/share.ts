/** Shares a bounded resource among callers whose number is not known. */

/**
 * The amount that one caller may hold while so much is free: of the free part, as great a share as
 * the free part has of all. So one alone gets 38 %, and two get a quarter each. The fuller it is,
 * the smaller the share: a hundred of those who take all that they may leave a hundredth, where
 * shares of "as much as is free" leave nothing after fifteen.
 * @limit requests and bytes of bodies under way of one address (IPv6: /64), or of one client
 * through its publishers' credentials: of what is free, as great a share as that is of all → `503`
 */
export const shareOf = (free: number, max: number): number => (free * free) / max;
