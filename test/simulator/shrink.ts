/**
 * Shrinking: the fewest entries, and the plainest settings, with which a story still fails in the
 * same way.
 */
import type { Patch } from './platform/bundle.ts';
import { runStory } from './run-story.ts';
import { STEPS } from './steps/steps.ts';
import { type Entry, PLAIN, type Settings, type Story } from './story.ts';
import type { Wrong } from './world.ts';

/** The same kind of failure, whatever IDs and numbers it names. */
function kindOf({ message }: Wrong): string {
  return message
    .replace(/0x[0-9a-f]+/g, '0x')
    .replace(/[0-9]+/g, 'N')
    .slice(0, 60);
}

/** An economy that fails is often the same loop as a ledger that stays. */
function isSame(one: Wrong, other: Wrong | undefined): boolean {
  if (other === undefined) return false;
  const isLoop = ({ kind }: Wrong) => kind === 'economy' || kind === 'liveness';
  return kindOf(one) === kindOf(other) || (isLoop(one) && isLoop(other));
}

/**
 * @param isInTime whether there is time for another try
 */
export async function shrink(
  story: Story,
  failure: Wrong,
  patches: readonly Patch[],
  isInTime: () => boolean,
): Promise<Story> {
  let smallest = story;
  const tryOut = async (smaller: Story): Promise<void> => {
    const failed = await runStory(smaller, patches).then(
      (outcome) => isSame(failure, outcome.failure),
      // a story without some of its entries may make no sense
      () => false,
    );
    if (failed) smallest = smaller;
  };
  const keep = (isKept: (entry: Entry) => boolean) =>
    tryOut({ ...smallest, entries: smallest.entries.filter(isKept) });
  // what came after the failure cannot matter, unless only calm weather brought it to light
  await keep(({ at }) => at <= failure.at);
  // all that an actor does, and all steps of a name
  for (const actor of new Set(story.entries.map(({ step }) => STEPS[step].actor)))
    if (isInTime()) await keep(({ step }) => STEPS[step].actor !== actor);
  for (const name of new Set(smallest.entries.map(({ step }) => step)))
    if (isInTime()) await keep(({ step }) => step !== name);
  for (
    let size = Math.ceil(smallest.entries.length / 2);
    size >= 1 && isInTime();
    size = Math.floor(size / 2)
  ) {
    for (let end = smallest.entries.length; end > 0 && isInTime(); end -= size) {
      const from = Math.max(0, end - size);
      await tryOut({ ...smallest, entries: smallest.entries.toSpliced(from, end - from) });
    }
  }
  for (const plain of plainSettings(story.settings)) {
    if (!isInTime()) break;
    await tryOut({ ...smallest, settings: { ...smallest.settings, ...plain } });
  }
  return smallest;
}

function plainSettings({ upstreams, endings }: Settings): Partial<Settings>[] {
  return [
    ...endings.map((each) => ({ endings: [each] })),
    ...Object.entries(PLAIN).map(([name, value]) => ({ [name]: value })),
    ...(upstreams.length > 1 ? [{ upstreams: upstreams.slice(0, 1) }] : []),
    { upstreams: upstreams.map((each) => ({ ...each, hasFeed: false })) },
  ];
}
