/** Segments: the list, one of them. */

export const segmentTexts = {
  title: 'Segments',
  line: 'A segment is an audience with a name. Notifications and other segments use it by its name.',
  add: 'New segment',
  emptyTitle: 'No segments yet',
  empty:
    'Save an audience that you use often, such as readers in Switzerland, and choose it by its name.',
  name: 'Name',
  nameHint: 'Expressions use it as $name. It cannot be changed later.',
  expression: 'Expression',
  expressionHint: 'Tags, attributes and other segments: sports && @language = de && !$staff',
  description: 'Description',
  descriptionHint: 'Who these people are.',
  make: 'Create segment',
  saved: 'Saved. New notifications use it.',
  whyEmpty: 'Write an expression first.',
  whyNoName: 'Enter a name first.',
  whySame: 'Nothing has changed.',
  toCount: 'Write an expression to see how many devices it has.',
  remove: 'Delete…',
  removeTitle: (name: string) => `Delete the segment ${name}?`,
  removeLine:
    'Notifications that are accepted already keep their audience. New ones cannot use it any more.',
  removeDeed: 'Delete segment',
};
