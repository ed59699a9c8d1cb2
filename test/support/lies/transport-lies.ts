/**
 * Answers that no honest node gives: without an end, of no shape, or from elsewhere.
 */
import { type Lie, lie, onPage } from './lie.ts';
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

export const TRANSPORT_LIES: readonly Lie[] = onPage('#/milestone/17339', [
  lie('a cone that never comes', never(EXPLANATION), {
    notChecked: /whiteflag.17339 within 30 seconds/,
    waits: true,
  }),
  lie('a cone without an end', endless(EXPLANATION), { notChecked: /without end/ }),
  lie('a milestone without an end', endless(ANY_MILESTONE), { notChecked: /without end/ }),
  lie('a milestone in bytes without an end', endless(ANY_MILESTONE, 'bytes'), {
    notChecked: /without end/,
  }),
  lie('blocks that never come', never(ANY_BLOCK), {
    notChecked: /bytes of 38 of 38 blocks did not come within 30 seconds/,
    waits: true,
  }),
  lie('blocks without an end', endless(ANY_BLOCK), { notChecked: /without end/ }),
  lie(
    '50 MB of JSON',
    always(EXPLANATION, () => `{"x":"${'a'.repeat(50_000_000)}"}`),
    { notChecked: /without end|contract/ },
  ),
  lie('eight million zeros in place of blocks', inText(EXPLANATION, zerosForBlocks), {
    notChecked: /contract/,
  }),
  lie(
    '400,000 zeros in place of blocks',
    withField(EXPLANATION, 'blocks', Array(400_000).fill(0)),
    { notChecked: /contract says: blocks\.0/ },
  ),
  lie(
    'a page in place of JSON',
    always(EXPLANATION, () => '<html><body>Verified</body></html>'),
    { notChecked: /contract/ },
  ),
  lie(
    'JSON 200,000 levels deep',
    always(EXPLANATION, () => nested(200_000)),
    { notChecked: /contract/ },
  ),
  lie(
    'a cone with JSON 200,000 levels deep in it',
    inText(EXPLANATION, (text) => text.replace('{', `{"deep":${nested(200_000)},`)),
    { notChecked: /contract/ },
  ),
  lie('the cone at another host', redirected(EXPLANATION), { notChecked: /does not answer/ }),
]);
