/** The one follower of this Worker. */
import type { CoreFollower } from './follower.ts';

export const followerOf = (namespace: Env['FOLLOWER']): DurableObjectStub<CoreFollower> =>
  namespace.get(namespace.idFromName('follower'));
