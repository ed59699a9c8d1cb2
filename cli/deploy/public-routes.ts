/**
 * What a deployed Worker opens unless the operator says otherwise: what HORNET's default
 * configuration opens (`restAPI.publicRoutes` of config_defaults.json, v2.0.1), and the other reads.
 * White-flag roots are for coordinators, who have a password or a token; HORNET asks for its JWT.
 */
import { matchesAny } from '../../src/http/access/route-access.ts';

const OPEN = [
  ...['/', '/explorer/*', '/favicon.ico', '/robots.txt', '/openapi.json', '/health', '/api/routes'],
  ...[
    'info',
    'tips',
    'blocks*',
    'transactions*',
    'milestones*',
    'outputs*',
    'treasury',
    'receipts*',
  ].map((each) => `/api/core/v2/${each}`),
  ...['/api/indexer/v1/*', '/api/mqtt/v1', '/api/poi/v1/*'],
  ...['nfts*', 'outputs*', 'changes/*', 'collections/*', 'blocks/*', 'final*', 'whiteflag/*'].map(
    (each) => `/api/edge/v1/${each}`,
  ),
].join();

/** Of a proposal: `/api/edge/v1/whiteflag/INDEX`, of an applied milestone, is open. */
const ROOTS = ['/api/core/v2/whiteflag', '/api/edge/v1/whiteflag'].join();

interface Access {
  PUBLIC_ROUTES: string;
  PROTECTED_ROUTES: string;
}

const CLOSED: Access = { PUBLIC_ROUTES: OPEN, PROTECTED_ROUTES: '' };
const FOR_COORDINATORS: Access = { PUBLIC_ROUTES: `${OPEN},${ROOTS}`, PROTECTED_ROUTES: ROOTS };

const isOf = (
  vars: Readonly<Record<string, string>>,
  { PUBLIC_ROUTES, PROTECTED_ROUTES }: Access,
) => vars.PUBLIC_ROUTES === PUBLIC_ROUTES && vars.PROTECTED_ROUTES === PROTECTED_ROUTES;

/**
 * Settings for a first deployment whose operator names no routes, and for one that got its password
 * or token since.
 *
 * @param secrets names of those that the Worker has or gets
 */
export function defaultAccess(
  vars: Readonly<Record<string, string>>,
  secrets: readonly string[],
  isFirst: boolean,
): Partial<Access> {
  const isUnset = isFirst && vars.PUBLIC_ROUTES === '';
  if (isUnset && vars.PROTECTED_ROUTES) {
    const asked = vars.PROTECTED_ROUTES.split(',').map((each) => each.trim());
    const roots = ROOTS.split(',').filter((path) => matchesAny(path, asked));
    return { PUBLIC_ROUTES: [OPEN, ...roots].join() };
  }
  if (!(isUnset || isOf(vars, CLOSED))) return {};
  const hasCoordinator = secrets.includes('API_TOKEN') || secrets.includes('API_PASSWORD');
  return hasCoordinator ? FOR_COORDINATORS : CLOSED;
}

/** A sentence about who may compute roots; none where the operator named the routes. */
export function describeAccess(vars: Readonly<Record<string, string>>): string[] {
  if (isOf(vars, FOR_COORDINATORS))
    return ['White-flag roots are for coordinators: they need the password or token of --secrets.'];
  if (vars.PUBLIC_ROUTES !== OPEN) return [];
  const how = vars.PROTECTED_ROUTES
    ? 'name them in PUBLIC_ROUTES and PROTECTED_ROUTES'
    : 'give --secrets with API_USER and API_PASSWORD, or API_TOKEN';
  return [
    `White-flag roots are closed to all. For coordinators ${how}; to open all but /metrics --var PUBLIC_ROUTES:*`,
  ];
}
