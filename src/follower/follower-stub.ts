/** The one follower of this Worker. */
import type { Follower } from './follower.ts';

export function followerOf(namespace: Env['FOLLOWER']): DurableObjectStub<Follower> {
  return namespace.get(namespace.idFromName('follower'));
}
