/** Routes that a module has, which tests of the core may ask only while it is there (src/modules/README.md). */
import { listRoutes } from '../../../src/http/routes.ts';
import { MODULES } from '../../../src/modules/list.ts';

const paths = Object.values(listRoutes(MODULES)).map(
  ({ path }) => new RegExp(`^${path.replace(/:\w+\+/g, '.+').replace(/:\w+/g, '[^/]+')}$`),
);

/** Whether the core or a module that is here has a route for the path. */
export const hasRoute = (path: string) => paths.some((each) => each.test(path));
