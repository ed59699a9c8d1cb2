/** White-flag requests, and whether their answers are true. */
import type { Request } from '../truth.ts';
import type { World } from '../world.ts';

export function askRoots(world: World, request: Request): void {
  const truth = world.truth.roots(request);
  const about = `milestone ${request.index} from ${request.parents.map((id) => id.slice(0, 8))}`;
  const { hasKeys } = world;
  world.proposals.push(request);
  const body = JSON.stringify(request);
  world.ask('/api/core/v2/whiteflag', check, { method: 'POST', body });

  async function check(answer: Response): Promise<void> {
    const said = (await answer.json()) as Record<string, unknown>;
    world.note(`white flag ${answer.status}`, about);
    if (answer.status === 400 && truth !== 'impossible' && hasKeys)
      return world.wrong(
        'safety',
        `${about}: 400 ${JSON.stringify(said)}, the truth is ${JSON.stringify(truth)}`,
      );
    if (answer.status !== 200) return;
    const { inclusionMerkleRoot, appliedMerkleRoot } = said;
    const roots = JSON.stringify({ inclusionMerkleRoot, appliedMerkleRoot });
    if (roots !== JSON.stringify(truth))
      world.wrong('safety', `${about}: ${roots}, the truth is ${JSON.stringify(truth)}`);
  }
}
