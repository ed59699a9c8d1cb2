/**
 * A deployment as a list of steps. Each can tell whether it is done, so that a deployment which was
 * interrupted goes on where it was when it is started again.
 */

export interface Step {
  name: string;
  /** What it does, for people: an infinitive. */
  describe: string;
  /** Reads, and changes nothing. */
  isDone(): Promise<boolean>;
  /** May be repeated: it was perhaps done before, in part or whole. */
  run(): Promise<void>;
}

/** Does the steps that are not done, in order. Throws what a step throws, and does no further. */
export async function runSteps(
  steps: readonly Step[],
  print: (line: string) => void,
): Promise<void> {
  for (const [i, { name, isDone, run }] of steps.entries()) {
    const title = `[${i + 1}/${steps.length}] ${name}`;
    if (await isDone()) {
      print(`${title}: done before`);
      continue;
    }
    print(title);
    await run();
  }
}

/**
 * Says what {@link runSteps} would do. Whether a step behind the first that is not done is done
 * cannot always be asked before: it is not asked.
 */
export async function describeSteps(steps: readonly Step[]): Promise<string[]> {
  const lines: string[] = [];
  let isNext = true;
  for (const { name, describe, isDone } of steps) {
    const done: boolean = isNext && (await isDone());
    const said = isNext ? describe : `unless it is done then, ${describe}`;
    lines.push(`${lines.length + 1}. ${name}: ${done ? 'done before' : said}`);
    isNext &&= done;
  }
  return lines;
}
