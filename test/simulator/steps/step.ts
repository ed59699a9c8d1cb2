/** What a step is: something that an actor does at one moment. */
import type { Random } from '../../support/network/random.ts';
import type { Settings } from '../story.ts';
import type { World } from '../world.ts';

export type Actor = 'sender' | 'coordinator' | 'upstream' | 'client' | 'operator' | 'weather';

export interface Step {
  actor: Actor;
  /** How often it is chosen, compared with others; 0: a story places it. */
  often: number;
  /** Whether somebody is hostile, or something fails. */
  isHostile?: true;
  /** Whether it changes what is stored, behind everybody's back. */
  isDamage?: true;
  /** Whether it makes sense with these settings. */
  needs(settings: Settings): boolean;
  run(world: World, random: Random): void | Promise<void>;
}

export type Steps = Record<string, Step>;

/** Makes the steps of an actor, `what` says of what kind. */
export const stepsOf =
  (actor: Actor, what: Pick<Step, 'isHostile' | 'isDamage'> = {}) =>
  (often: number, run: Step['run'], needs: Step['needs'] = () => true): Step => ({
    actor,
    ...what,
    often,
    needs,
    run,
  });

export const hasLiar = ({ upstreams }: Settings): boolean => upstreams.some((each) => each.isLiar);
