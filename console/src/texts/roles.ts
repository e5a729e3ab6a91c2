/** The roles of members, what they may, and what is said where they may not. */

export const roleTexts = {
  owner: { name: 'owner', may: 'Everything: sends, tags, apps, keys, members' },
  publisher: { name: 'publisher', may: 'Sends, and sees everything except secrets' },
  viewer: { name: 'viewer', may: 'Sees everything except secrets' },
  /** Keyed by the least role that may. */
  who: { owner: 'owners', publisher: 'owners and publishers' },
  notAllowed: (role: string, who: string) =>
    `Only ${who} of the client have access, and you are a ${role}. An owner can change your role.`,
  onlyFor: (who: string) => `Only ${who} of the client can do this.`,
  operatorsOnly:
    'Only operators of the engine have access. The person who runs it can make you one.',
} as const;
