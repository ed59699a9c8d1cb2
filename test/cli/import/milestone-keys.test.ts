/**
 * Which milestone keys scripts take, and what they call them when they are wrong.
 */
import { expect, it } from 'vitest';
import { chooseMilestoneKeys, parseMilestoneKeys } from '../../../cli/lib/import/milestone-keys.ts';

const [a, b, c] = ['aa', 'bb', 'cc'].map((byte) => byte.repeat(32)) as [string, string, string];
const vars = (key: string, threshold = '1') => ({
  MILESTONE_PUBLIC_KEYS: key,
  MILESTONE_THRESHOLD: threshold,
});

type Flags = { publicKeys?: string; threshold?: string };
type Vars = Record<string, string>;

function choose({ publicKeys, threshold }: Flags, ...layers: Vars[]) {
  const given = {
    ...(publicKeys !== undefined && { MILESTONE_PUBLIC_KEYS: publicKeys }),
    ...(threshold !== undefined && { MILESTONE_THRESHOLD: threshold }),
  };
  return chooseMilestoneKeys(given, ...layers);
}

function chosen(flags: Flags, ...layers: Vars[]): string[] | undefined {
  return choose(flags, ...layers)?.keys.map(({ publicKey }) => publicKey.toHex());
}

it('takes flags over all vars, and of these the first that are set', () => {
  const flags = { publicKeys: `${a},${b}`, threshold: '2' };
  expect(chosen(flags, vars(b), vars(c))).toEqual([a, b]);
  expect(choose(flags, vars(c))?.threshold).toBe(2);
  expect(chosen({}, vars(b), vars(c))).toEqual([b]);
  expect(chosen({}, {}, vars('', ''), vars(c))).toEqual([c]);
  expect(chosen({ publicKeys: a }, vars(b))).toEqual([a]);
  expect(chosen({}, {}, vars('', ''))).toBeUndefined();
});

it.each<[[Flags, ...Vars[]], RegExp]>([
  [[{ publicKeys: 'ab', threshold: '1' }], /^--keys must be keys/],
  [[{ publicKeys: a, threshold: 'x' }], /^--threshold must be an integer/],
  [[{}, vars('ab')], /^MILESTONE_PUBLIC_KEYS must be keys/],
  [
    [{ threshold: '2' }, vars(a)],
    /^--threshold must not be greater than the number of keys in MILESTONE_PUBLIC_KEYS$/,
  ],
  [[{ publicKeys: a }], /^--keys and MILESTONE_THRESHOLD must both be set, or none$/],
])('calls %j what they were given by', (given, sentence) => {
  expect(() => choose(...given)).toThrow(sentence);
});

it('calls keys of another command as that does', () => {
  const names = { publicKeys: '--keys', threshold: '--threshold' };
  expect(() => parseMilestoneKeys('ab', '1', names)).toThrow(/^--keys must be keys/);
});
