/**
 * The small parts that all views are made of.
 */
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { shorten } from '../format.ts';
import { NodeError } from '../node/ask.ts';
import type { Info } from '../node/shapes.ts';
import { formatRoute, type View } from '../route.ts';
import type { Loaded } from '../use-load.ts';

/** A link to a view. */
export function To({ view, children }: { view: View; children: ComponentChildren }) {
  return <a href={formatRoute(view)}>{children}</a>;
}

interface IdProps {
  id: string;
  /** What it is, for the label of the copy button: "NFT ID". */
  what: string;
  /** Where it leads. */
  view?: View;
  /** As it is, not shortened. */
  whole?: boolean;
}

/** An ID or an address: shortened, in monospace, with a button that copies the whole. */
export function Id({ id, what, view, whole = false }: IdProps) {
  const text = (
    <span class="mono" title={id}>
      {whole ? id : shorten(id)}
    </span>
  );
  return (
    <span class={whole ? 'id whole' : 'id'}>
      {view === undefined ? text : <To view={view}>{text}</To>}
      <Copy text={id} what={what} />
    </span>
  );
}

const ID_WORDS = {
  address: 'address',
  alias: 'alias ID',
  block: 'block ID',
  foundry: 'foundry ID',
  nft: 'NFT ID',
  output: 'output ID',
  transaction: 'transaction ID',
} as const;

/** The ID of a thing that has a page, or an address: a link to it. */
export function IdLink({ name, id }: { name: keyof typeof ID_WORDS; id: string }) {
  const view = name === 'address' ? { name, address: id } : { name, id };
  return <Id id={id} what={ID_WORDS[name]} view={view} />;
}

const COPIED_MS = 1500;

export function Copy({ text, what }: { text: string; what: string }) {
  const [outcome, setOutcome] = useState<'copied' | 'refused'>();
  useEffect(() => {
    if (outcome !== 'copied') return undefined;
    const timer = setTimeout(() => setOutcome(undefined), COPIED_MS);
    return () => clearTimeout(timer);
  }, [outcome]);
  return (
    <>
      <button
        type="button"
        class={outcome === 'copied' ? 'copy copied' : 'copy'}
        aria-label={outcome === 'copied' ? `${what} copied` : `Copy ${what}`}
        title={`Copy ${what}`}
        onClick={async ({ currentTarget }) =>
          setOutcome((await copyText(text, currentTarget)) ? 'copied' : 'refused')
        }
      >
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <path d="M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z" />
        </svg>
      </button>
      {outcome === 'refused' && (
        <span class="refused whole" role="status">
          Your browser does not let this page copy. Select it here: <span class="mono">{text}</span>
        </span>
      )}
    </>
  );
}

/** Browsers have a clipboard on https and on localhost; elsewhere only what is selected is copied. */
async function copyText(text: string, button: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = document.createElement('textarea');
    field.className = 'unseen';
    field.value = text;
    document.body.append(field);
    field.select();
    const isCopied = document.execCommand('copy');
    field.remove();
    button.focus();
    return isCopied;
  }
}

/** @param index of a milestone; where the node does not keep it, nothing is linked */
export function MilestoneText({ index, info }: { index: number; info: Info }) {
  const text = `milestone ${index}`;
  if (index <= info.status.pruningIndex) return <span>{text}</span>;
  return <To view={{ name: 'milestone', milestone: String(index) }}>{text}</To>;
}

export type Rows = readonly (readonly [string, ComponentChildren])[];

/** Terms and what they are. Rows without a value are left out. */
export function Facts({ rows }: { rows: Rows }) {
  return (
    <dl class="facts">
      {rows
        .filter(
          ([, value]) => value !== undefined && value !== null && value !== '' && value !== false,
        )
        .map(([term, value]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** Text of anybody: its direction is its own and does not reach beyond it. */
export function Foreign({ text }: { text: string }) {
  return <bdi class="foreign">{text}</bdi>;
}

/** Of the page, and behind the title of each view. */
const TITLE = 'Stardust edge node';

/** A name of anybody's may be long, and turn what stands behind it. */
const MAX_TITLE = 100;
const UNSEEN = /[\p{Cc}\p{Cf}]/gu;

/** The head of a view: what kind of thing it is, and which one. */
export function Head({
  kind,
  children,
  id,
  title,
  api,
  aside,
}: {
  kind: string;
  children: ComponentChildren;
  /** Its ID, below what it is. */
  id?: ComponentChildren;
  /** Of the window; without it, what the heading says. */
  title?: string | undefined;
  /** The path of what the node answers about it. */
  api?: string;
  aside?: ComponentChildren;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    const text = title ?? heading.current?.textContent?.trim();
    document.title = `${kind} ${text?.replaceAll(UNSEEN, '').slice(0, MAX_TITLE)} · ${TITLE}`;
    return () => {
      document.title = TITLE;
    };
  });
  return (
    <header class="head">
      <div>
        <p class="kind">{kind}</p>
        <h1 tabIndex={-1} ref={heading}>
          {children}
        </h1>
        {id && <p class="of-id">{id}</p>}
      </div>
      {(aside !== undefined || api !== undefined) && (
        <div class="aside">
          {aside}
          {api !== undefined && (
            <a class="api" href={api}>
              API <span class="unseen">answer of this page</span>
            </a>
          )}
        </div>
      )}
    </header>
  );
}

/** JSON, folded: it is only made when it is opened. */
export function Folded({ title, text }: { title: string; text: () => string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="folded" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{title}</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard */}
      {isOpen && <pre tabIndex={0}>{text()}</pre>}
    </details>
  );
}

/** While something is under way. */
export function ReadingNote({ words = 'Reading …' }: { words?: string }) {
  return (
    <p class="loading" role="status">
      {words}
    </p>
  );
}

/** What was loaded; while it is under way, and when it failed, a page of its own. */
export function Awaited<T>({
  loaded,
  kind,
  id,
  missing,
  children,
}: {
  loaded: Loaded<T>;
  kind: string;
  id: string;
  /** Why it may not be there, for people. */
  missing: string;
  children: (value: T) => VNode;
}) {
  if (loaded.state === 'done') return children(loaded.value);
  if (loaded.state === 'loading') return <ReadingNote />;
  const { error } = loaded;
  const status = error instanceof NodeError ? error.status : undefined;
  const malformed = 'This node says that it is malformed: then nothing has such an ID.';
  if (status === 404 || status === 400)
    return (
      <section class="page missing">
        <Head kind={kind}>Not found</Head>
        {id !== '' && (
          <p>
            <Id id={id.slice(0, 200)} what="the ID" whole />
          </p>
        )}
        <p class="reason">{status === 400 ? malformed : missing}</p>
        <p class="hint">{error.message}</p>
      </section>
    );
  return (
    <section class="page">
      <Head kind={kind}>{id === '' ? 'Not read' : shorten(id)}</Head>
      <NotRead error={error} />
    </section>
  );
}

/** Why a part of a page could not be read. */
export function NotRead({ error }: { error: Error }) {
  return (
    <>
      <p class="verdict neutral" data-standing="not-checked">
        <span>Not checked: {error.message}</span>
      </p>
      <p>
        <button type="button" onClick={() => location.reload()}>
          Try again
        </button>
      </p>
    </>
  );
}

/** A part of a page: what was loaded, and while it is under way, and when it failed. */
export function LoadedPart<T>({
  loaded,
  children,
}: {
  loaded: Loaded<T>;
  children: (value: T) => VNode;
}) {
  if (loaded.state === 'done') return children(loaded.value);
  if (loaded.state === 'failed') return <NotRead error={loaded.error} />;
  return <ReadingNote />;
}
