/** The roles of members, and what they may. */

export const roleTexts = {
  owner: { name: 'owner', may: 'everything: sends, tags, apps, keys, members' },
  publisher: { name: 'publisher', may: 'sends, and sees everything but secrets' },
  viewer: { name: 'viewer', may: 'sees everything but secrets' },
} as const;
