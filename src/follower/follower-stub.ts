/** The one follower of this Worker. */
import type { CoreFollower } from './follower.ts';

export function followerOf(namespace: Env['FOLLOWER']): DurableObjectStub<CoreFollower> {
  return namespace.get(namespace.idFromName('follower'));
}
