/// <reference types="vite/types/importMeta.d.ts" />
/**
 * Imported for its effect by tests in workerd, which has no disk: the recorded networks come with
 * the test's own code.
 */
import { readFilesBy } from './vectors.ts';

const files = import.meta.glob<string>('../vectors/network-*/*.gz', {
  query: '?url&inline',
  import: 'default',
  eager: true,
});

readFilesBy((name) => {
  const url = files[`../vectors/${name}`];
  if (url === undefined) throw new Error(`no vectors ${name}`);
  return Uint8Array.fromBase64(url.slice(url.indexOf(',') + 1));
});
