/**
 * The explorer: the search box, the state of the ledger, and the view that the URL names.
 */
import { type ComponentType, render } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { formatAge, formatCount } from './format.ts';
import { askHealth } from './node/ask.ts';
import { hasEvents, listenForMilestones } from './node/events.ts';
import { readInfo } from './node/ledger.ts';
import type { Info } from './node/shapes.ts';
import { Head, To, Verdict } from './parts/parts.tsx';
import { asError, type Loaded, useLoad } from './parts/use-load.ts';
import { recognise } from './recognise.ts';
import { formatRoute, parseRoute, type View } from './route.ts';
import { BlockView, TransactionView } from './views/block.tsx';
import { GalleryView } from './views/gallery.tsx';
import { HomeView } from './views/home.tsx';
import { NftView } from './views/nft.tsx';
import { OutputView } from './views/output.tsx';
import { SearchView } from './views/search.tsx';
import { VerifyView } from './views/verify.tsx';

/** Between two readings of the ledger's state: where the node announces milestones, and elsewhere. */
const INFO_INTERVAL_MS = { announced: 60_000, polled: 5000 };

/** From an event to the reading: milestones may come in bursts. */
const EVENT_DELAY_MS = 100;

function App() {
  const [view, setView] = useState(() => parseRoute(location.hash));
  const [note, setNote] = useState('');
  const { info, isSilent } = useInfo();
  const main = useRef<HTMLElement>(null);

  useEffect(() => {
    const show = () => {
      setNote('');
      setView(parseRoute(location.hash));
    };
    addEventListener('hashchange', show);
    return () => removeEventListener('hashchange', show);
  }, []);
  useFocusOnHead(main, view);

  /** In place of the search, so that "back" does not search again. */
  const open = (found: View, how: string) => {
    history.replaceState(null, '', formatRoute(found));
    setView(found);
    setNote(how);
  };

  return (
    <>
      <Masthead view={view} info={info} isSilent={isSilent} />
      <main ref={main}>
        {view.name === 'home' && <h1 class="hero">Look into the ledger, and check it yourself.</h1>}
        <Search view={view} />
        {note !== '' && (
          <p class="found-note" role="status">
            {note}
          </p>
        )}
        {info.state === 'loading' && (
          <p class="loading" role="status">
            Reading …
          </p>
        )}
        {info.state === 'failed' && <NoLedger error={info.error} />}
        {info.state === 'done' && <Shown view={view} info={info.value} open={open} />}
      </main>
      <footer>
        {info.state === 'done' && <NodeState info={info.value} />}
        <a href="/openapi.json">API description</a>
        <a href="/api/core/v2/info">Node info</a>
        <a href="https://github.com/iotaledger/tips" rel="noreferrer">
          Protocol
        </a>
      </footer>
    </>
  );
}

function Shown({
  view,
  info,
  open,
}: {
  view: View;
  info: Info;
  open(view: View, how: string): void;
}) {
  switch (view.name) {
    case 'home':
      return <HomeView info={info} />;
    case 'search':
      return <SearchView text={view.text} open={open} />;
    case 'nft':
      return <NftView id={view.id} info={info} />;
    case 'output':
      return <OutputView id={view.id} info={info} />;
    case 'block':
      return <BlockView id={view.id} />;
    case 'transaction':
      return <TransactionView id={view.id} />;
    case 'milestone':
      return (
        <Later
          key="milestone"
          load={loadMilestoneView}
          milestone={view.milestone}
          block={view.block}
          info={info}
        />
      );
    case 'address':
    case 'issuer':
      return <GalleryView role={view.name} address={view.address} cursor={view.cursor} />;
    case 'proposal':
      return <Later key="proposal" load={loadProposalView} fields={view.fields} info={info} />;
    case 'verify':
      return <VerifyView info={info} />;
    case 'unknown':
      return (
        <section class="page missing">
          <Head kind="Explorer">No such page</Head>
          <p class="reason">This address is not one of the explorer’s. Search for an ID instead.</p>
        </section>
      );
  }
}

// views with a graph are loaded when one is opened
const loadMilestoneView = async () => (await import('./views/milestone.tsx')).MilestoneView;
const loadProposalView = async () => (await import('./views/proposal.tsx')).ProposalView;

/** A view whose script is loaded first. */
function Later<P extends object>({ load, ...props }: P & { load(): Promise<ComponentType<P>> }) {
  const loaded = useLoad(load, [load]);
  if (loaded.state === 'done') {
    const Loaded = loaded.value;
    return <Loaded {...(props as unknown as P)} />;
  }
  return loaded.state === 'failed' ? (
    <Verdict tone="neutral">A part of this page could not be loaded. Reload the page.</Verdict>
  ) : (
    <p class="loading" role="status">
      Reading …
    </p>
  );
}

function NoLedger({ error }: { error: Error }) {
  return (
    <section class="page missing">
      <Head kind="Node">No ledger to look into</Head>
      <Verdict tone="neutral">{error.message}</Verdict>
    </section>
  );
}

interface MastheadProps {
  view: View;
  info: Loaded<Info>;
  isSilent: boolean;
}

function Masthead({ view, info, isSilent }: MastheadProps) {
  const link = (name: 'proposal' | 'verify', title: string) => (
    <a href={formatRoute({ name })} aria-current={view.name === name ? 'page' : undefined}>
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
      {info.state === 'done' && <LedgerState info={info.value} isSilent={isSilent} />}
      <nav aria-label="Views">
        {link('proposal', 'Proposal')}
        {link('verify', 'Verify')}
      </nav>
    </header>
  );
}

/** Beyond it people want to know why. */
const OLD_SECONDS = 300;

function LedgerState({ info, isSilent }: { info: Info; isSilent: boolean }) {
  const { isHealthy, confirmedMilestone } = info.status;
  const age = Date.now() / 1000 - confirmedMilestone.timestamp;
  const [reason, setReason] = useState<string>();
  useEffect(() => {
    // an old ledger explains itself; /health, which browsers report as an error, is asked for the rest
    if (isHealthy || age > OLD_SECONDS) setReason(undefined);
    else void askHealth().then(setReason, () => setReason('not healthy'));
  }, [isHealthy, confirmedMilestone.index]);
  return (
    <p class="state" id="ledger-state">
      <span class={isHealthy && !isSilent ? 'dot live' : 'dot'} aria-hidden="true" />
      <Foreignish text={info.protocol.networkName} /> · ledger{' '}
      <strong>{formatCount(confirmedMilestone.index)}</strong> ·{' '}
      {isSilent ? 'the node does not answer now' : describeState(info, age)}
      {reason !== undefined && ` · ${reason}`}
    </p>
  );
}

/** What operators want to know, in one line. */
function NodeState({ info }: { info: Info }) {
  const { blocksBy, newestBlockAgeSeconds: age, status, version } = info;
  const newest = age === undefined ? '' : `, the newest ${formatAge(age)} ago`;
  return (
    <p id="node-state">
      Version {version.slice(0, 20)}. Keeps milestones from {formatCount(status.pruningIndex + 1)}{' '}
      on.
      {blocksBy !== undefined && ` Blocks come by ${blocksBy.slice(0, 20)}${newest}.`}
    </p>
  );
}

/** A network's name is the node's word. */
function Foreignish({ text }: { text: string }) {
  return <bdi>{text.slice(0, 40)}</bdi>;
}

function describeState({ status, features }: Info, age: number): string {
  if (features.includes('finalMilestone')) return 'final: the network ended here';
  return status.isHealthy ? 'live' : `${formatAge(age)} old`;
}

function Search({ view }: { view: View }) {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState('');
  const shown = view.name === 'search' ? view.text : '';
  // not at each new view, nor a frame later: the visitor may be typing already
  useLayoutEffect(() => setText(shown), [shown]);
  useLayoutEffect(() => setProblem(''), [view]);
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
            location.hash = formatRoute(meaning.view);
          }
          if (meaning.kind === 'ambiguous') location.hash = formatRoute({ name: 'search', text });
        }}
      >
        <label for="search">
          NFT, output, block, transaction or milestone ID · milestone index · address
        </label>
        <div class="row">
          <input
            id="search"
            class="mono"
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
            placeholder="0x…, 17339 or smr1…"
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

/**
 * Reads the state of the ledger whenever the node announces a milestone, or every five seconds where
 * it does not; but not while nobody looks, nor once it is over.
 */
function useInfo(): { info: Loaded<Info>; isSilent: boolean } {
  const [info, setInfo] = useState<Loaded<Info>>({ state: 'loading' });
  const [isSilent, setSilent] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    /** Closes the connection that announces milestones. */
    let stop: (() => void) | undefined;
    /** When the page may try to connect. */
    let connectFrom = 0;
    function readIn(milliseconds: number): void {
      clearTimeout(timer);
      timer = setTimeout(read, milliseconds);
    }
    async function listen(): Promise<void> {
      if (stop !== undefined || Date.now() < connectFrom) return;
      connectFrom = Date.now() + INFO_INTERVAL_MS.announced;
      if (!(await hasEvents().catch(() => false)) || document.hidden) return;
      stop = listenForMilestones(location.origin, {
        onMilestone: () => readIn(EVENT_DELAY_MS),
        onEnd() {
          stop = undefined;
          readIn(EVENT_DELAY_MS);
        },
      });
    }
    function rest(): void {
      stop?.();
      stop = undefined;
    }
    async function read(): Promise<void> {
      timer = undefined;
      if (!document.hidden) {
        try {
          const value = await readInfo();
          isOver = value.features.includes('finalMilestone');
          setSilent(false);
          setInfo((before) => (isSame(before, value) ? before : { state: 'done', value }));
        } catch (error) {
          // what was read stays on show: the next reading may succeed
          setSilent(true);
          setInfo((before) =>
            before.state === 'done' ? before : { state: 'failed', error: asError(error) },
          );
        }
      }
      if (isOver || document.hidden) rest();
      else await listen();
      // unless a milestone came meanwhile
      if (!isOver && timer === undefined)
        readIn(INFO_INTERVAL_MS[stop === undefined ? 'polled' : 'announced']);
    }
    const show = () => readIn(0);
    document.addEventListener('visibilitychange', show);
    void read();
    return () => {
      document.removeEventListener('visibilitychange', show);
      clearTimeout(timer);
      rest();
    };
  }, []);
  return { info, isSilent };
}

/** Then nothing is drawn again: what is selected stays selected. */
function isSame(before: Loaded<Info>, after: Info): boolean {
  return before.state === 'done' && JSON.stringify(before.value) === JSON.stringify(after);
}

/** A new view begins at its head, for the keyboard and for screen readers, too. */
function useFocusOnHead(main: { current: HTMLElement | null }, view: View): void {
  const [first, setFirst] = useState(true);
  // another block of the same milestone is not another view
  const key = view.name === 'milestone' ? `${view.name} ${view.milestone}` : formatRoute(view);
  // a frame later, the visitor may have gone on already
  useLayoutEffect(() => {
    if (first) {
      setFirst(false);
      return undefined;
    }
    scrollTo(0, 0);
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
    const stop = () => observer.disconnect();
    for (const event of ['keydown', 'pointerdown']) addEventListener(event, stop, { once: true });
    return stop;
  }, [key]);
}

render(<App />, document.getElementById('app')!);
