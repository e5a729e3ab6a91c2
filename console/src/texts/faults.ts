/** What is said when something failed. */

export const faultTexts = {
  title: 'That did not work.',
  noAnswer: 'The engine does not answer. What was loaded stays; try again in a moment.',
  offline: 'This device is offline. The page goes on when it is back.',
  unsaid: (status: number) => `The engine answered ${status} and did not say why.`,
  notLoaded: 'This part of the console could not be loaded. Load the page again.',
  request: 'Request',
  again: 'Try again',
  gone: 'There is nothing here. It may have been deleted meanwhile.',
  notAllowed: (role: string, may: string) =>
    `You are a ${role} of this client. ${may} may do this.`,
};
