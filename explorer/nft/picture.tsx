/**
 * The picture of an NFT: nothing is loaded from elsewhere before the visitor asks for it, and the
 * visitor sees from where, and chooses the gateway.
 */
import { useEffect, useState } from 'preact/hooks';
import { GATEWAYS, gatewayUrl, type PictureSource, pictureSource } from './picture-address.ts';

const STORAGE_KEY = 'ipfs-gateway';

/** A gateway may take its time to find a file. */
const PATIENCE_MS = 20_000;

/** The gateway that was chosen last, by its place in the list. */
function readChoice(): number {
  try {
    const place = Number(localStorage.getItem(STORAGE_KEY));
    return GATEWAYS[place] === undefined ? 0 : place;
  } catch {
    // storage may be forbidden
    return 0;
  }
}

function keepChoice(place: number): void {
  try {
    localStorage.setItem(STORAGE_KEY, String(place));
  } catch {
    // then it is asked again
  }
}

export function GatewayChoice({ place, choose }: { place: number; choose(place: number): void }) {
  return (
    <label class="gateway">
      IPFS gateway
      <select
        value={String(place)}
        onChange={({ currentTarget }) => {
          keepChoice(Number(currentTarget.value));
          choose(Number(currentTarget.value));
        }}
      >
        {GATEWAYS.map(({ title }, i) => (
          <option key={title} value={String(i)}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

export const useGateway = () => useState(readChoice);

type Progress = 'waiting' | 'shown' | 'failed' | 'late';

/** @param source one that is not `none` */
function urlOf(source: PictureSource, place: number): string {
  if (source.kind === 'https') return source.url;
  return source.kind === 'ipfs' ? gatewayUrl(GATEWAYS[place]!, source.path) : '';
}

/** The picture itself, once it may be loaded. Another URL makes another one: give it as the key. */
function Image({ url, title }: { url: string; title: string }) {
  const [progress, setProgress] = useState<Progress>('waiting');
  useEffect(() => {
    const timer = setTimeout(
      () => setProgress((now) => (now === 'waiting' ? 'late' : now)),
      PATIENCE_MS,
    );
    return () => clearTimeout(timer);
  }, []);
  const host = URL.parse(url)?.host;
  return (
    <>
      {progress !== 'failed' && (
        <img
          class={progress === 'shown' ? 'picture shown' : 'picture'}
          src={url}
          alt={`Claimed by the metadata of ${title}`}
          referrerpolicy="no-referrer"
          decoding="async"
          onLoad={() => setProgress('shown')}
          onError={() => setProgress('failed')}
        />
      )}
      {progress !== 'shown' && (
        <p class="over" role="status">
          {progress === 'waiting' && `Loading from ${host} …`}
          {progress === 'late' && `${host} has sent nothing for 20 seconds. Try another gateway.`}
          {progress === 'failed' && whyNoPicture(host)}
        </p>
      )}
    </>
  );
}

/** A browser tells a page no more than that no picture came. */
function whyNoPicture(host = ''): string {
  return navigator.onLine
    ? `No picture came from ${host}: it has none there, or it failed. Try another gateway.`
    : 'Your browser is offline.';
}

/** The frame on the page of one NFT. */
export function Picture({ uri, title }: { uri: string | undefined; title: string }) {
  const [place, choose] = useGateway();
  const [isWanted, want] = useState(false);
  const source = pictureSource(uri);
  if (source.kind === 'none')
    return (
      <figure class="frame">
        <p class="over">{source.reason}</p>
      </figure>
    );
  const from = source.kind === 'https' ? source.host : GATEWAYS[place]!.title;
  return (
    <figure class="frame">
      {isWanted ? (
        <Image key={urlOf(source, place)} url={urlOf(source, place)} title={title} />
      ) : (
        <div class="over">
          <button type="button" class="main" onClick={() => want(true)}>
            Show picture
          </button>
          <p class="hint">
            Loads it from <strong>{from}</strong>, which then sees your IP address.
          </p>
        </div>
      )}
      {source.kind === 'ipfs' && <GatewayChoice place={place} choose={choose} />}
    </figure>
  );
}

/** The frame in a gallery, which asks once for the whole page. */
export function Thumbnail({
  id,
  uri,
  title,
  gateway,
  isWanted,
}: {
  id: string;
  uri: string | undefined;
  title: string;
  gateway: number;
  isWanted: boolean;
}) {
  const source = pictureSource(uri);
  return (
    <div class="frame small">
      {isWanted && source.kind !== 'none' ? (
        <Image key={urlOf(source, gateway)} url={urlOf(source, gateway)} title={title} />
      ) : (
        <Pattern id={id} />
      )}
    </div>
  );
}

const GRID = 5;

/** What stands for an NFT whose picture is not loaded: tiles by the digits of its ID, mirrored. */
function Pattern({ id }: { id: string }) {
  const half = Math.ceil(GRID / 2);
  const tiles = Array.from({ length: GRID * GRID }, (_, i) => {
    const [row, column] = [Math.floor(i / GRID), i % GRID];
    const digit = id[2 + row * half + Math.min(column, GRID - 1 - column)];
    return { row, column, weight: Number.parseInt(digit ?? '0', 16) };
  });
  return (
    <svg class="pattern" viewBox={`0 0 ${GRID} ${GRID}`} aria-hidden="true">
      {tiles.map(({ row, column, weight }) => (
        <rect
          key={`${row} ${column}`}
          x={column + 0.06}
          y={row + 0.06}
          width="0.88"
          height="0.88"
          rx="0.12"
          opacity={weight < 8 ? 0.06 : (weight - 5) / 20}
        />
      ))}
    </svg>
  );
}
