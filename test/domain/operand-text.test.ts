import * as fc from 'fast-check';
import t from 'tap';
import type { ExpressionLeaf } from '../../src/domain/audience-expression.ts';
import { leavesOf, readExpression } from '../../src/domain/audience-expression.ts';
import { operandText } from '../../src/domain/operand-text.ts';
import { testedText, testedTrees } from '../support/tested-devices.ts';

const leavesIn = (text: string): readonly ExpressionLeaf[] => {
  const read = readExpression(text, { isSegment: true });
  if (!read.ok) throw new Error(`${text}: ${read.fault.message}`);
  return leavesOf(read.expression.root);
};
const textsIn = (text: string) => leavesIn(text).map(operandText);

t.test('as a publisher writes it', (t) => {
  t.same(textsIn('news && !("b \\"c\\\\" || #7) && !!$x'), ['news', '!"b \\"c\\\\"', '!#7', '$x']);
  t.same(textsIn('* && @a && @b>="1.2" && !@c in (x,"y z") && $"a b"'), [
    '*',
    '@a',
    '@b >= 1.2',
    '!@c in (x, "y z")',
    '$"a b"',
  ]);
  t.end();
});

t.test('read again it is the same', async (t) => {
  const read = testedTrees.filter((tree) => readExpression(testedText(tree)).ok);
  await fc.assert(
    fc.property(read, (tree) => {
      const texts = textsIn(testedText(tree));
      t.same(texts.flatMap(textsIn), texts);
    }),
  );
});
