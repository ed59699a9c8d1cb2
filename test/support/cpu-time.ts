/** Time that no other process can take. */

/** Milliseconds of CPU that this process spends until the work is done. */
export async function cpuTime(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
