/**
 * Verdicts on the largest transactions, in this process.
 */
import type { BenchCase } from '../case.ts';
import { semanticsCases } from '../semantics.ts';
import { median } from '../tools/measure.ts';

const WARM = 100;
const COUNT = 201;

export const judgeCases: readonly BenchCase[] = semanticsCases.map(({ name, limit, prepare }) => ({
  name,
  about: 'Everything but the signatures, warm; the verdict is asserted before.',
  async run({ report }) {
    const work = prepare();
    for (let i = 0; i < WARM; i++) work();
    const times: number[] = [];
    for (let i = 0; i < COUNT; i++) {
      const start = performance.now();
      work();
      times.push(performance.now() - start);
    }
    report({ name, value: median(times), unit: 'ms', target: { most: limit } });
  },
}));
