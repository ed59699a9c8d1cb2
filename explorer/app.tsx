/**
 * The explorer: the search box, the state of the ledger, and the view that the URL names.
 */
import { type ComponentChildren, type ComponentType, render } from 'preact';
import { useEffect, useErrorBoundary, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { provedValue } from '../src/stardust/provenance/proved.ts';
import type { Finding, SignedMilestone } from '../src/stardust/provenance/provenance.ts';
import { describeSignedAge, formatAge, isLive } from '../src/stardust/provenance/words.ts';
import { formatSince } from './format.ts';
import { goTo, goToPath, readLocation } from './navigate.ts';
import { askHealth } from './node/ask.ts';
import { type Info, indexesAll, saysEnded } from './node/shapes.ts';
import { type Known, useInfo } from './node/use-info.ts';
import { Later } from './parts/later.tsx';
import { OtherNode } from './parts/other-node.tsx';
import { Foreign, Head, ReadingNote, To } from './parts/parts.tsx';
import { NotChecked, Remark } from './parts/standing.tsx';
import { recognise } from './recognise.ts';
import { formatRoute, parseRoute, type View } from './route.ts';
import { type Loaded, useLast, useLoad } from './use-load.ts';
import { remarkOnName } from './verify/describe-keys.ts';
import { NetworkName, useKeyChoice } from './verify/key-choice.ts';

function App() {
  const [view, setView] = useState(readLocation);
  const [note, setNote] = useState('');
  const { info, isSilent } = useInfo();
  const head = useHead(info);
  const main = useRef<HTMLElement>(null);

  // not a frame later: the visitor may be gone to another view by then
  useLayoutEffect(() => {
    const show = () => {
      setNote('');
      setView(readLocation());
    };
    const events = ['popstate', 'hashchange'];
    for (const event of events) addEventListener(event, show);
    document.addEventListener('click', followLink);
    return () => {
      for (const event of events) removeEventListener(event, show);
      document.removeEventListener('click', followLink);
    };
  }, []);
  useFocusOnHead(main, view);

  /** In place of the search, so that "back" does not search again. */
  const open = (found: View, how: string) => {
    history.replaceState(null, '', formatRoute(found));
    setView(found);
    setNote(how);
  };

  return (
    <NetworkName.Provider value={info.state === 'done' ? info.value.protocol.networkName : ''}>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to the page
      </button>
      <Masthead view={view} info={info} head={head} isSilent={isSilent} />
      <main ref={main} tabIndex={-1}>
        {info.state === 'done' && <NameNote name={info.value.protocol.networkName} />}
        {view.name === 'home' && <h1 class="hero">Look into the ledger, and check it yourself.</h1>}
        <Search view={view} info={info} />
        <div role="status" class="false-note">
          {/* seen as soon as anything on the page is refuted: the style sheet knows */}
          <p>
            Something that this node says here is false: what has a cross. Do not rely on this page;
            <a href="#another-node">ask another node</a>.
          </p>
        </div>
        {note !== '' && (
          <p class="found-note" role="status">
            {note}
          </p>
        )}
        {info.state === 'loading' && <ReadingNote />}
        {info.state === 'failed' && <NoLedger error={info.error} />}
        {info.state === 'done' && (
          <Guarded key={keyOf(view)}>
            <Shown view={view} info={info.value} head={head} open={open} />
          </Guarded>
        )}
        <OtherNode />
      </main>
      <footer>
        {info.state === 'done' && <NodeState info={info.value} />}
        <a href="/api/core/v2/info">Node info</a>
        <a href="https://github.com/iotaledger/tips" rel="noreferrer">
          Protocol
        </a>
      </footer>
    </NetworkName.Provider>
  );
}

/** A link to another view does not load the page again. */
function followLink(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  const isPlain =
    event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  if (
    link === null ||
    !isPlain ||
    link.target !== '' ||
    link.hash !== '' ||
    link.origin !== location.origin
  )
    return;
  if (event.defaultPrevented || parseRoute(link.pathname).name === 'unknown') return;
  if (/^\/api(?:\/|$)/.test(link.pathname)) return;
  event.preventDefault();
  goToPath(link.pathname + link.search);
}

/** A view that throws while it is drawn is a sentence, and no empty page. */
function Guarded({ children }: { children: ComponentChildren }) {
  const [error] = useErrorBoundary();
  if (error === undefined) return <>{children}</>;
  return (
    <section class="page failed-view">
      <Head kind="Explorer">Not shown</Head>
      <NotChecked>
        this page could not show what the node answered.{' '}
        {String(error.message ?? error).slice(0, 200)}
      </NotChecked>
    </section>
  );
}

/** What a node calls its network is the first thing by which it could mislead. */
function NameNote({ name }: { name: string }) {
  const remark = remarkOnName(name, useKeyChoice());
  if (remark === undefined) return null;
  return (
    <p
      class={remark.isOdd ? 'warning' : 'warning neutral-note'}
      data-standing="not-checked"
      role="status"
    >
      <bdi>{remark.text}</bdi>{' '}
      <To view={{ name: 'verify' }}>
        {remark.isOdd ? 'Choose whose keys to check against' : 'Enter its keys'}
      </To>
    </p>
  );
}

/** Whether the chosen keys signed the milestone that the node names as its newest. */
function useHead(info: Loaded<Info>): Finding<SignedMilestone> | undefined {
  const index = info.state === 'done' ? info.value.status.confirmedMilestone.index : undefined;
  const name = info.state === 'done' ? info.value.protocol.networkName : '';
  const choice = useKeyChoice(name);
  const [head] = useLast(
    useLoad(
      async () =>
        index === undefined
          ? undefined
          : (await import('./verify/verifier.ts')).readSigned(index, choice, name),
      [index, name, choice],
    ),
  );
  return head.state === 'done' ? head.value : undefined;
}

/** A view is given what its path says, and what the page knows. */
interface Given extends Known {
  open(view: View, how: string): void;
}

type Load<P> = () => Promise<ComponentType<P>>;

/** Each view is loaded when it is opened. */
const VIEWS: { [N in View['name']]?: Load<Extract<View, { name: N }> & Given> } = {
  home: async () => (await import('./views/home.tsx')).HomeView,
  search: async () => (await import('./views/search.tsx')).SearchView,
  nft: async () => (await import('./views/nft.tsx')).NftView,
  output: async () => (await import('./views/output.tsx')).OutputView,
  block: async () => (await import('./views/block.tsx')).BlockView,
  transaction: async () => (await import('./views/block.tsx')).TransactionOfBlock,
  alias: async () => (await import('./views/chain.tsx')).ChainView,
  foundry: async () => (await import('./views/chain.tsx')).ChainView,
  milestone: async () => (await import('./views/milestone.tsx')).MilestoneView,
  milestones: async () => (await import('./views/milestones.tsx')).MilestonesView,
  collectibles: async () => (await import('./nft/newest.tsx')).NewestNftsView,
  tokens: async () => (await import('./views/tokens.tsx')).TokensView,
  address: async () => (await import('./views/address.tsx')).AddressView,
  nfts: async () => (await import('./views/address.tsx')).AddressView,
  issuer: async () => (await import('./views/address.tsx')).AddressView,
  proposal: async () => (await import('./views/proposal.tsx')).ProposalView,
  statement: async () => (await import('./archive/statement.tsx')).StatementView,
  verify: async () => (await import('./views/verify.tsx')).VerifyView,
  api: async () => (await import('./views/api.tsx')).ApiView,
};

function Shown({ view, ...known }: { view: View } & Given) {
  const load = VIEWS[view.name] as Load<View & Given> | undefined;
  if (load !== undefined) return <Later load={load} {...view} {...known} />;
  return (
    <section class="page missing">
      <Head kind="Explorer">No such page</Head>
      <p class="reason">This address is not one of the explorer’s. Search for an ID instead.</p>
    </section>
  );
}

/** The first view's script comes while the ledger's state is read; that it fails is said later. */
function loadFirst(): void {
  VIEWS[readLocation().name]?.().catch(() => {});
}

function NoLedger({ error }: { error: Error }) {
  return (
    <section class="page missing">
      <Head kind="Node">
        {error.message.includes('no ledger was imported') ? 'No ledger to look into' : 'Not read'}
      </Head>
      <Remark>{error.message}</Remark>
    </section>
  );
}

interface MastheadProps {
  view: View;
  info: Loaded<Info>;
  head: Finding<SignedMilestone> | undefined;
  isSilent: boolean;
}

function Masthead({ view, info, head, isSilent }: MastheadProps) {
  const link = (to: View, title: string) => (
    <a href={formatRoute(to)} aria-current={view.name === to.name ? 'page' : undefined}>
      {title}
    </a>
  );
  return (
    <header class="masthead">
      <To view={{ name: 'home' }}>
        <svg class="logo" viewBox="0 0 32 32" aria-hidden="true">
          <path d="M6 9L16 16M6 23L16 16M16 16L26 16" />
          <circle cx="6" cy="9" r="3.5" />
          <circle cx="6" cy="23" r="3.5" />
          <circle class="key" cx="16" cy="16" r="4.5" />
          <circle cx="26" cy="16" r="3.5" />
        </svg>
        <span>Stardust edge node</span>
      </To>
      {info.state === 'done' && <LedgerState info={info.value} head={head} isSilent={isSilent} />}
      <nav aria-label="Views">
        {link({ name: 'milestones' }, 'Milestones')}
        {link({ name: 'collectibles' }, 'NFTs')}
        {info.state === 'done' && indexesAll(info.value) && link({ name: 'tokens' }, 'Tokens')}
        {link({ name: 'api' }, 'API')}
        {link({ name: 'verify' }, 'Verify')}
      </nav>
    </header>
  );
}

/** Beyond it people want to know why. */
const OLD_SECONDS = 300;

const SILENT = 'the node does not answer now';

const FINAL = 'final: the network ended here';

function LedgerState({
  info,
  head,
  isSilent,
}: Omit<MastheadProps, 'view' | 'info'> & { info: Info }) {
  const { isHealthy, confirmedMilestone } = info.status;
  const now = Date.now() / 1000;
  const isAsked = !isHealthy && now - confirmedMilestone.timestamp <= OLD_SECONDS;
  // an old ledger explains itself; /health, which browsers report as an error, is asked for the rest
  const reason = useLoad(
    async () => (isAsked ? askHealth().catch(() => 'not healthy') : undefined),
    [isAsked, confirmedMilestone.index],
  );
  const signed = head?.standing === 'proved' ? provedValue(head.proof) : undefined;
  const isNow = signed !== undefined && isLive(signed, now) && !isSilent;
  return (
    <p class="state" id="ledger-state">
      <span class={isNow ? 'dot live' : 'dot'} aria-hidden="true" />
      <Foreign text={info.protocol.networkName.slice(0, 40)} /> ·{' '}
      {signed === undefined ? (
        <span data-standing="said">
          this node says: ledger <strong>{confirmedMilestone.index}</strong> ·{' '}
          {isSilent ? SILENT : describeState(info, now)}
        </span>
      ) : (
        <span data-standing="proved">
          ledger <strong>{signed.index}</strong> ·{' '}
          {isSilent ? SILENT : isNow ? 'live' : describeSignedAge(signed, now)}
        </span>
      )}
      {signed !== undefined && !isSilent && saysEnded(info) && (
        // no key signs that nothing comes after
        <span data-standing="said"> · this node says {FINAL}</span>
      )}
      {reason.state === 'done' && reason.value !== undefined && ` · ${reason.value}`}
    </p>
  );
}

/** What operators want to know, in one line. */
function NodeState({ info }: { info: Info }) {
  const { blocksBy, newestBlockAgeSeconds: age, status, version } = info;
  const newest = age === undefined ? '' : `, the newest ${formatAge(age)} ago`;
  return (
    <p id="node-state" data-standing="said">
      This node says: version {version.slice(0, 20)}. It has nothing of milestones before{' '}
      {status.pruningIndex + 1}.
      {blocksBy !== undefined && ` Blocks come by ${blocksBy.slice(0, 20)}${newest}.`}
    </p>
  );
}

function describeState(info: Info, now: number): string {
  if (saysEnded(info)) return FINAL;
  const { isHealthy, confirmedMilestone } = info.status;
  const age = now - confirmedMilestone.timestamp;
  const isAhead = age < 0 && !isLive(confirmedMilestone, now);
  return `${isAhead ? formatSince(age) : `${formatAge(age)} old`}${isHealthy ? ', healthy' : ''}`;
}

function Search({ view, info }: { view: View; info: Loaded<Info> }) {
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  const [problem, setProblem] = useState('');
  const shown = view.name === 'search' ? view.text : '';
  // not at each new view, nor a frame later: the visitor may be typing already
  useLayoutEffect(() => setText(shown), [shown]);
  useLayoutEffect(() => setProblem(''), [view]);
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      const isTyping =
        event.target instanceof Element && event.target.matches('input, textarea, select');
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      field.current?.focus();
    };
    addEventListener('keydown', focus);
    return () => removeEventListener('keydown', focus);
  }, []);
  const known = info.state === 'done' ? info.value : undefined;
  return (
    <search>
      <form
        class="search"
        onSubmit={(event) => {
          event.preventDefault();
          const meaning = recognise(text);
          setProblem(meaning.kind === 'nothing' ? meaning.reason : '');
          if (meaning.kind === 'view') {
            setText('');
            goTo(meaning.view);
          }
          if (meaning.kind === 'ambiguous' || meaning.kind === 'address') {
            // as whoever tries again where a part of a page is not read
            if (text === shown) location.reload();
            else goTo({ name: 'search', text });
          }
        }}
      >
        <label for="search">Address, ID of any kind, milestone index, or a link</label>
        <div class="row">
          <input
            id="search"
            ref={field}
            class="mono"
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
            placeholder={
              known === undefined
                ? '0x…'
                : `0x…, ${known.status.confirmedMilestone.index} or ${known.protocol.bech32Hrp.slice(0, 10)}1…`
            }
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            aria-describedby="search-problem"
          />
          <button type="submit" class="main">
            Search
          </button>
        </div>
        <p id="search-problem" class="problem" role="status">
          {problem}
        </p>
      </form>
    </search>
  );
}

/** Another block of the same milestone is not another view, nor another page of a list. */
function keyOf(view: View): string {
  if (view.name === 'milestone') return `${view.name} ${view.milestone}`;
  return 'address' in view ? `${view.name} ${view.address}` : formatRoute(view);
}

/** A new view begins at its head, for the keyboard and for screen readers, too. */
function useFocusOnHead(main: { current: HTMLElement | null }, view: View): void {
  const [first, setFirst] = useState(true);
  const key = keyOf(view);
  // a frame later, the visitor may have gone on already
  useLayoutEffect(() => {
    if (first) {
      setFirst(false);
      return undefined;
    }
    const stopScrolling = restoreScroll();
    const focus = () =>
      main.current?.querySelector<HTMLElement>('.page h1')?.focus({ preventScroll: true });
    // where the visitor was is gone, or stands above the new view
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    focus();
    // what was read may bring another head, until the visitor goes on
    const observer = new MutationObserver(() => {
      if (document.activeElement === document.body) focus();
    });
    observer.observe(main.current!, { childList: true, subtree: true });
    const stop = () => {
      observer.disconnect();
      stopScrolling();
    };
    for (const event of ['keydown', 'pointerdown']) addEventListener(event, stop, { once: true });
    return stop;
  }, [key]);
}

/** Where each entry of the history was left, by its number in {@link history.state}. */
const left = new Map<number, number>();
let entry = 0;

/** Keeps where the visitor is, for when they come back. */
function keepScroll(): void {
  left.set(entry, scrollY);
}

/** A new entry begins at its top, one that was left before where it was left. */
function restoreScroll(): () => void {
  const before: unknown = history.state?.entry;
  if (typeof before !== 'number' || !left.has(before)) {
    entry = left.size + 1;
    left.set(entry, 0);
    history.replaceState({ entry }, '');
    scrollTo(0, 0);
    return () => {};
  }
  entry = before;
  const place = left.get(before)!;
  // the page grows while it is read
  const grow = () => {
    if (document.documentElement.scrollHeight >= place + innerHeight) scrollTo(0, place);
  };
  grow();
  const observer = new ResizeObserver(grow);
  observer.observe(document.body);
  return () => observer.disconnect();
}

history.scrollRestoration = 'manual';
history.replaceState({ entry }, '');
addEventListener('scroll', keepScroll, { passive: true });
loadFirst();
render(<App />, document.getElementById('app')!);
