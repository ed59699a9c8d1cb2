/** The entrypoints of the core alone, without modules (`npm run build -- --core`). */
import { createWorker } from './http/create-worker.ts';

export { CoreFollower as Follower } from './follower/follower.ts';

export default createWorker([]);
