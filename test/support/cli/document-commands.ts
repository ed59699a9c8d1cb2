/**
 * Commands that a document tells its readers to type.
 */

export interface Command {
  tool: 'npm run' | 'npx stardust-edge' | 'npx wrangler';
  /**
   * The script, our command, or wrangler's command and those below it: `d1`, `time-travel`,
   * `restore`.
   */
  words: string[];
  /** `--NAME`, without values. */
  flags: string[];
}

/** Wrangler's commands with others below them: how many words each has. */
const WORDS: Record<string, number> = { d1: 2, kv: 3, secret: 2, versions: 2, deployments: 2 };

export function commandsOf(markdown: string): Command[] {
  const joined = markdown.replace(/\\\n\s*/g, ' ');
  // in backticks, which may go over lines, or to the end of an indented or fenced line
  const spans = [...joined.matchAll(/`((?:npm run|npx stardust-edge|npx wrangler) [^`]+)`/g)].map(
    ([, text]) => text!,
  );
  const lines = [
    ...joined.matchAll(
      /^(?: {4,})?(?:[A-Z_]+=\S+ )*((?:npm run|npx stardust-edge|npx wrangler) .+)$/gm,
    ),
  ].map(([, text]) => text!);
  const inOrder = [...spans, ...lines].sort((a, b) => joined.indexOf(a) - joined.indexOf(b));
  return inOrder.flatMap(readCommand);
}

function readCommand(text: string): Command[] {
  // what follows a comment, another command or a closing quote is not this command's
  const [own] = text.split(/\s#|&&|\||`/);
  const words = own!.trim().split(/\s+/);
  const tool = words.slice(0, 2).join(' ') as Command['tool'];
  const rest = words.slice(2);
  const flags = rest.filter((word) => word.startsWith('--') && word.length > 2);
  const names = rest.filter((word) => /^[a-z][a-z0-9:-]*$/.test(word));
  if (names[0] === undefined) return [];
  const isTimeTravel = names[1] === 'time-travel' || names[1] === 'migrations';
  const count = tool !== 'npx wrangler' ? 1 : (WORDS[names[0]] ?? 1) + (isTimeTravel ? 1 : 0);
  return [{ tool, words: names.slice(0, count), flags: flags.map((flag) => flag.split('=')[0]!) }];
}
