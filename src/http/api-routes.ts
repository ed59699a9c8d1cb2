/**
 * GET /api/routes: which APIs clients find here. iota.go and wasp look for the indexer in
 * it (docs/upstream-api.md#what-clients-expect).
 */
import { type Answer, jsonAnswer } from './route.ts';

export async function answerApiRoutes(): Promise<Answer> {
  return jsonAnswer({ routes: ['core/v2', 'indexer/v1', 'poi/v1'] });
}
