/**
 * GET /api/routes: which APIs clients find here; iota.go and wasp look for the indexer in it (formats-and-clients.md §5).
 */
export async function answerApiRoutes(): Promise<Response> {
  return Response.json({ routes: ['core/v2', 'indexer/v1'] });
}
