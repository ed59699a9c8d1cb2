/**
 * A progress bar on a terminal. If the output is no terminal, a line from time to time.
 */

/** Between two drawings. */
const ON_TERMINAL_MS = 200;
const ELSEWHERE_MS = 5000;

/**
 * Over which the rate is measured. It must follow changes: what an interrupted import has done is
 * skipped, which is much faster.
 */
const WINDOW_MS = 10_000;

const WIDTH = 30;

type Unit = 'bytes' | 'rows' | 'milestones';

export class ProgressBar {
  readonly #unit: Unit;
  readonly #out: NodeJS.WriteStream;
  readonly #clock: () => number;
  /** How much was done when, within the window. */
  #marks: { at: number; done: number }[] = [];
  #drawn = Number.NEGATIVE_INFINITY;

  constructor(
    unit: Unit,
    out: NodeJS.WriteStream = process.stderr,
    clock: () => number = Date.now,
  ) {
    this.#unit = unit;
    this.#out = out;
    this.#clock = clock;
  }

  /** Bytes, rows or milestones done of all there are. */
  show(label: string, done: number, total: number): void {
    const now = this.#clock();
    if (
      this.#marks.length > 0 &&
      now - this.#drawn < (this.#out.isTTY ? ON_TERMINAL_MS : ELSEWHERE_MS)
    )
      return;
    this.#marks.push({ at: now, done });
    while (this.#marks.length > 2 && now - this.#marks[1]!.at > WINDOW_MS) this.#marks.shift();
    const first = this.#marks[0]!;
    const line = describe(
      label,
      this.#unit,
      done,
      total,
      now > first.at ? (done - first.done) / (now - first.at) : 0,
    );
    if (this.#out.isTTY) this.#out.write(`\r\x1b[K${line}`);
    else if (this.#drawn > 0) this.#out.write(`${line}\n`);
    this.#drawn = now;
  }

  /** Removes the bar from the terminal. */
  clear(): void {
    if (this.#out.isTTY && this.#drawn > 0) this.#out.write('\r\x1b[K');
  }
}

/** @param rate bytes, rows or milestones a millisecond, 0 while unknown */
function describe(label: string, unit: Unit, done: number, total: number, rate: number): string {
  const part = total === 0 ? 1 : done / total;
  const filled = Math.round(part * WIDTH);
  const bar = '█'.repeat(filled) + '░'.repeat(WIDTH - filled);
  const pace =
    rate > 0 ? `, ${format(rate * 1000, unit)}/s, ${formatTime((total - done) / rate)} left` : '';
  const amounts = `${format(done, unit)} of ${format(total, unit)}`;
  return `${label} ${bar} ${Math.floor(part * 100)} %, ${amounts}${pace}`;
}

function format(amount: number, unit: Unit): string {
  return unit === 'bytes' ? `${(amount / 1e6).toFixed(1)} MB` : `${Math.round(amount)} ${unit}`;
}

function formatTime(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
