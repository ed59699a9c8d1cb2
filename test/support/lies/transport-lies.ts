/**
 * Answers that no honest node gives: without an end, of no shape, or from elsewhere.
 */
import type { Lie } from './lie.ts';
import {
  always,
  endless,
  inText,
  nested,
  never,
  redirected,
  withField,
  zerosForBlocks,
} from './rules.ts';
import { ANY_BLOCK, ANY_MILESTONE, EXPLANATION } from './sample-paths.ts';

export const TRANSPORT_LIES: readonly Lie[] = [
  {
    name: 'a cone that never comes',
    notChecked: /whiteflag.17339 within 30 seconds/,
    rules: [never(EXPLANATION)],
    waits: true as const,
  },
  { name: 'a cone without an end', notChecked: /without end/, rules: [endless(EXPLANATION)] },
  {
    name: 'a milestone without an end',
    notChecked: /without end/,
    rules: [endless(ANY_MILESTONE)],
  },
  {
    name: 'a milestone in bytes without an end',
    notChecked: /without end/,
    rules: [endless(ANY_MILESTONE, 'bytes')],
  },
  {
    name: 'blocks that never come',
    notChecked: /bytes of 38 of 38 blocks did not come within 30 seconds/,
    rules: [never(ANY_BLOCK)],
    waits: true as const,
  },
  { name: 'blocks without an end', notChecked: /without end/, rules: [endless(ANY_BLOCK)] },
  {
    name: '50 MB of JSON',
    notChecked: /without end|contract/,
    rules: [always(EXPLANATION, () => `{"x":"${'a'.repeat(50_000_000)}"}`)],
  },
  {
    name: 'eight million zeros in place of blocks',
    notChecked: /contract/,
    rules: [inText(EXPLANATION, zerosForBlocks)],
  },
  {
    name: '400,000 zeros in place of blocks',
    notChecked: /contract says: blocks\.0/,
    rules: [withField(EXPLANATION, 'blocks', Array(400_000).fill(0))],
  },
  {
    name: 'a page in place of JSON',
    notChecked: /contract/,
    rules: [always(EXPLANATION, () => '<html><body>Verified</body></html>')],
  },
  {
    name: 'JSON 200,000 levels deep',
    notChecked: /contract/,
    rules: [always(EXPLANATION, () => nested(200_000))],
  },
  {
    name: 'a cone with JSON 200,000 levels deep in it',
    notChecked: /contract/,
    rules: [inText(EXPLANATION, (text) => text.replace('{', `{"deep":${nested(200_000)},`))],
  },
  {
    name: 'the cone at another host',
    notChecked: /does not answer/,
    rules: [redirected(EXPLANATION)],
  },
].map((lie) => ({ page: '#/milestone/17339', ...lie }));
