/** All steps, by their names. */
import { clientSteps } from './clients.ts';
import { coordinatorSteps } from './coordinators.ts';
import { damageSteps } from './damage.ts';
import { memorySteps } from './memory.ts';
import { operatorSteps } from './operators.ts';
import { senderSteps } from './senders.ts';
import type { Step } from './step.ts';
import { upstreamSteps } from './upstreams.ts';
import { weatherSteps } from './weather.ts';

const all = {
  ...senderSteps,
  ...coordinatorSteps,
  ...upstreamSteps,
  ...clientSteps,
  ...operatorSteps,
  ...weatherSteps,
  ...memorySteps,
  ...damageSteps,
};

export type StepName = keyof typeof all;

export const STEPS: Readonly<Record<StepName, Step>> = all;
