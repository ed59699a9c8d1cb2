/** The heap as it is after garbage collection, for tests of what is held. */
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

export const collectGarbage = runInNewContext('gc') as () => void;

/** Bytes of the heap and of buffers that are held. */
export async function usedBytes(): Promise<number> {
  // buffers are freed by another thread
  for (let i = 0; i < 3; i++) {
    collectGarbage();
    await sleep(5);
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
