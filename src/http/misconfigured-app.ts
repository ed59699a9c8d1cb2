/**
 * What runs in the app's place when a setting is wrong. Every answer is 500, and the log says what
 * to mend.
 */
import { writeLog } from '../log.ts';
import type { App } from './app.ts';
import { errorAnswer, HttpError } from './errors.ts';
import { toResponse } from './to-response.ts';

export function createMisconfiguredApp(problems: readonly string[]): App {
  return {
    async fetch(request) {
      writeLog('error', 'settings.invalid', { problems });
      return toResponse(errorAnswer(new HttpError(500)), request.method);
    },
  };
}
