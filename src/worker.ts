/** The Worker's entrypoints: the core with all modules. */
import { createWorker } from './http/create-worker.ts';
import { CoreFollower } from './follower/follower.ts';
import { MODULES } from './modules/list.ts';

export { EventBroker } from './modules/events/event-broker.ts';

export class Follower extends CoreFollower {
  protected override get modules() {
    return MODULES;
  }
}

export default createWorker(MODULES);
