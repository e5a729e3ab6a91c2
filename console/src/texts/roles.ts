/** The roles of members, what they may, and what is said where they may not. */

export const roleTexts = {
  owner: { name: 'owner', may: 'everything: sends, tags, apps, keys, members' },
  publisher: { name: 'publisher', may: 'sends, and sees everything but secrets' },
  viewer: { name: 'viewer', may: 'sees everything but secrets' },
  /** Keyed by the least role that may. */
  who: { owner: 'owners', publisher: 'owners and publishers' },
  notAllowed: (role: string, who: string) =>
    `This is for ${who} of the client, and you are a ${role} of it. An owner can give you another role.`,
  operatorsOnly:
    'This is for operators of the engine. Who runs it can make your account one of theirs.',
} as const;
