/** Sorts short lists of numbers in place. */

/** Up to here insertion is cheaper: `sort` makes 1.6 KB of state for any list. */
const INSERTED_MAX = 32;

/** Sorts `numbers` itself, lowest first, and returns it. */
export function sortNumbers(numbers: number[]): number[] {
  if (numbers.length > INSERTED_MAX) return numbers.sort((a, b) => a - b);
  for (let end = 1; end < numbers.length; end += 1) {
    const number = numbers[end] ?? 0;
    let place = end;
    for (; place > 0 && (numbers[place - 1] ?? 0) > number; place -= 1) {
      numbers[place] = numbers[place - 1] ?? 0;
    }
    numbers[place] = number;
  }
  return numbers;
}
