/**
 * Properties are tried with the same values in each run of `npm test`, so that no test fails by
 * chance. `npm run test:slow` does without this file: there fast-check has a seed for each run, which
 * it prints where a property fails.
 */
import fc from 'fast-check';

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 43 });
