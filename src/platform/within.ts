/** Waits that end: each clears its timer, as workerd allows 10,000 of them. */

/** Settles as the work does, or as `late` does after N milliseconds; the work goes on then. */
export async function within<T, L>(ms: number, work: Promise<T>, late: () => L): Promise<T | L> {
  const over = Promise.withResolvers<void>();
  const timer = setTimeout(over.resolve, Math.max(ms, 0));
  try {
    return await Promise.race([work, over.promise.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}

/** Runs the work with a signal that aborts after N milliseconds, unless the work has ended. */
export async function withSignal<T>(
  ms: number,
  late: Error,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  // not AbortSignal.timeout: its timer outlives the work
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(late), ms);
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
