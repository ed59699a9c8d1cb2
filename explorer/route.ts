/**
 * The views of the explorer and their URLs. A view has a path (`/nft/0x…`), so that a link to it has
 * a title and a card of its own; links of before, with the view in the fragment (`/#/nft/0x…`), lead
 * to it.
 */

/** What the proposal view computes, as far as the URL says it. All of it is text of the visitor. */
export interface ProposalFields {
  index: string;
  timestamp: string;
  previousMilestoneId: string;
  /** Block IDs, separated by white space or commas. */
  parents: string;
}

export type View =
  | { name: 'home' }
  | { name: 'search'; text: string }
  | { name: (typeof BY_ID)[number]; id: string }
  /** `milestone` is an index, or an ID. `block` is the selected one of its blocks. */
  | { name: 'milestone'; milestone: string; block?: string }
  /** `from` is the index of the first row; without it, the newest. */
  | { name: 'milestones'; from?: number }
  /** `page` begins with 1, which is left out. */
  | { name: AddressViewName; address: string; page?: number }
  | { name: 'proposal'; fields?: ProposalFields }
  | { name: 'verify' }
  /** The newest NFTs: `/nfts` without an address. */
  | { name: 'collectibles' }
  /** Foundries, a page at a time. */
  | { name: 'tokens'; page?: number }
  /** All operations, or the one with this ID. */
  | { name: 'api'; operation?: string }
  /** What an address held when the network ended; without one, from files. */
  | { name: 'statement'; of?: string }
  | { name: 'unknown' };

const BY_ID = ['nft', 'alias', 'foundry', 'output', 'block', 'transaction'] as const;
const BY_ADDRESS = ['address', 'nfts', 'issuer'] as const;

/** What an address holds, its NFTs, and those that it issued. */
export type AddressViewName = (typeof BY_ADDRESS)[number];

/** The view that a path names, or a fragment with its `#`. */
export function parseRoute(route: string): View {
  const [path = '', query = ''] = route.replace(/^#/, '').split('?', 2);
  const [kind = '', id = '', ...rest] = path.replace(/^\//, '').split('/').map(decode);
  const parameters = new URLSearchParams(query);
  const optional = <N extends string>(name: N) => {
    const value = parameters.get(name);
    return (value === null ? {} : { [name]: value }) as { [_ in N]?: string };
  };
  if (rest.length > 0) return { name: 'unknown' };
  if (id === '') {
    if (kind === '') return { name: 'home' };
    if (kind === 'search') return { name: 'search', text: parameters.get('q') ?? '' };
    if (kind === 'verify') return { name: 'verify' };
    if (kind === 'nfts') return { name: 'collectibles' };
    if (kind === 'tokens') return { name: 'tokens', ...numberIn(parameters, 'page', 2) };
    if (kind === 'statement') return { name: 'statement' };
    if (kind === 'milestones') return { name: 'milestones', ...numberIn(parameters, 'from', 1) };
    if (isReference(kind)) return { name: 'api' };
    if (kind === 'proposal') return { name: 'proposal', ...fieldsOf(parameters) };
    return { name: 'unknown' };
  }
  for (const name of BY_ID) if (kind === name) return { name, id };
  for (const name of BY_ADDRESS)
    if (kind === name) return { name, address: id, ...numberIn(parameters, 'page', 2) };
  if (isReference(kind)) return { name: 'api', operation: id };
  if (kind === 'statement') return { name: 'statement', of: id };
  if (kind === 'milestone') return { name: 'milestone', milestone: id, ...optional('block') };
  return { name: 'unknown' };
}

/** `/api` is the API's own; fragments had it. */
const isReference = (kind: string) => kind === 'reference' || kind === 'api';

/** The path of a view, with its query. */
export function formatRoute(view: View): string {
  switch (view.name) {
    case 'home':
    case 'unknown':
      return '/';
    case 'search':
      return `/search?${new URLSearchParams({ q: view.text })}`;
    case 'verify':
      return '/verify';
    case 'collectibles':
      return '/nfts';
    case 'tokens':
      return `/tokens${pageQuery(view)}`;
    case 'api':
      return view.operation === undefined
        ? '/reference'
        : `/reference/${encodeURIComponent(view.operation)}`;
    case 'statement':
      return view.of === undefined ? '/statement' : `/statement/${encodeURIComponent(view.of)}`;
    case 'proposal':
      return view.fields === undefined
        ? '/proposal'
        : `/proposal?${new URLSearchParams({ ...view.fields })}`;
    case 'milestones':
      return `/milestones${queryOf({ from: view.from?.toString() })}`;
    case 'milestone':
      return `/milestone/${encodeURIComponent(view.milestone)}${queryOf({ block: view.block })}`;
    case 'address':
    case 'nfts':
    case 'issuer':
      return `/${view.name}/${encodeURIComponent(view.address)}${pageQuery(view)}`;
    default:
      return `/${view.name}/${encodeURIComponent(view.id)}`;
  }
}

/** The first page needs none. */
function pageQuery({ page }: { page?: number }): string {
  return queryOf({ page: page === undefined || page === 1 ? undefined : String(page) });
}

/** Left out where it is none, or less than `least`. */
function numberIn<N extends string>(parameters: URLSearchParams, name: N, least: number) {
  const value = Number(parameters.get(name));
  return (Number.isInteger(value) && value >= least ? { [name]: value } : {}) as {
    [_ in N]?: number;
  };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // a stray percent sign
    return part;
  }
}

function fieldsOf(parameters: URLSearchParams): { fields?: ProposalFields } {
  if (!parameters.has('index')) return {};
  const value = (name: keyof ProposalFields) => parameters.get(name) ?? '';
  return {
    fields: {
      index: value('index'),
      timestamp: value('timestamp'),
      previousMilestoneId: value('previousMilestoneId'),
      parents: value('parents'),
    },
  };
}

function queryOf(parameters: Record<string, string | undefined>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  return given.length === 0 ? '' : `?${new URLSearchParams(given as [string, string][])}`;
}
