/**
 * A module (src/modules/README.md): a capability around the core, in a folder of its own under
 * src/modules/, which can be taken away. Each room of the core says what it takes of one, and imports
 * none.
 */
import type { FollowerPart } from '../follower/follower-part.ts';
import type { HttpPart } from '../http/route.ts';

export interface Module extends HttpPart, FollowerPart {
  /** Name of its folder. */
  name: string;
  /** The modules that it imports; it imports no others (`npm run lint`). */
  needs?: readonly Module[];
}
