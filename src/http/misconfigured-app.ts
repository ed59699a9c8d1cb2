/**
 * What runs in the app's place when a setting is wrong: nothing is answered but 500, and the log says what to mend (design §6).
 */
import { writeLog } from '../log.ts';
import type { App } from './app.ts';
import { errorAnswer, HttpError } from './errors.ts';
import { complete } from './to-response.ts';

export function createMisconfiguredApp(problems: readonly string[]): App {
  return {
    async fetch(request) {
      writeLog('error', 'settings', { problems });
      return complete(errorAnswer(new HttpError(500)), request.method);
    },
  };
}
