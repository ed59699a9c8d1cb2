/** The Worker's entrypoints: the core with all modules. */
import { CoreFollower } from './follower/follower.ts';
import { createWorker } from './http/create-worker.ts';
import { MODULES } from './modules/list.ts';

export { EventBroker } from './modules/events/event-broker.ts';

export class Follower extends CoreFollower {
  protected override get modules() {
    return MODULES;
  }
}

export default createWorker(MODULES);
