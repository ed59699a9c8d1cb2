/**
 * Prints the TypeScript types that openapi-typescript makes of openapi.json. A process of its own,
 * as it redirects an import: openapi-typescript uses the JavaScript API of TypeScript, which
 * TypeScript 7 does not have, but the copy in @ts-morph/common does.
 */
import { registerHooks } from 'node:module';

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'typescript'
      ? next(new URL('./typescript-api.ts', import.meta.url).href, context)
      : next(specifier, context),
});
const { default: generateTypes, astToString } = await import('openapi-typescript');
const openapi = new URL('../../../src/http/assets/openapi.json', import.meta.url);
process.stdout.write(astToString(await generateTypes(openapi)));
