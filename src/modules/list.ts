/**
 * The modules of this Worker (src/modules/README.md). To take one away, delete its folder and its
 * lines here.
 */
import type { Operations } from '../http/openapi/operation.ts';
import type { RouteTable } from '../http/route.ts';
import { describeEvents, events } from './events/module.ts';
import { feed } from './feed/module.ts';
import { describeFinal, final } from './final/module.ts';
import { describeGalleries, galleries } from './galleries/module.ts';
import { describeHistories, histories } from './histories/module.ts';
import { describeLists, lists } from './lists/module.ts';
import type { Module } from './module.ts';
import { describeObjects, objects } from './objects/module.ts';
import { describeAssets, page } from './page/module.ts';
import { describeProofs, proofs } from './proofs/module.ts';

export const MODULES: readonly Module[] = [
  objects,
  lists,
  galleries,
  histories,
  proofs,
  final,
  events,
  feed,
  page,
];

/** Only tools/openapi.ts calls this, so the Worker's bundle leaves the descriptions out. */
export const describeModules = (): Operations<RouteTable> => ({
  ...describeObjects(),
  ...describeLists(),
  ...describeGalleries(),
  ...describeHistories(),
  ...describeProofs(),
  ...describeFinal(),
  ...describeEvents(),
  ...describeAssets(),
});
