/**
 * The picture of an NFT: nothing is loaded from elsewhere before the visitor asks for it, and the
 * visitor sees from where, and chooses the gateway.
 */
import { useEffect, useState } from 'preact/hooks';
import { keptChoice } from '../parts/kept.ts';
import {
  GATEWAYS,
  gatewayUrl,
  type PictureSource,
  pictureSource,
  type Show,
  showOf,
} from './picture-address.ts';

/** A gateway may take its time to find a file. */
const PATIENCE_MS = 20_000;

/** By its place in the list. */
const { choose: chooseGateway, useChoice: useGateway } = keptChoice(
  'ipfs-gateway',
  (stored) => (GATEWAYS[Number(stored)] === undefined ? 0 : Number(stored)),
  String,
);

export { useGateway };

export function GatewayChoice({ place }: { place: number }) {
  return (
    <label class="gateway">
      IPFS gateway
      <select
        value={String(place)}
        onChange={({ currentTarget }) => chooseGateway(Number(currentTarget.value))}
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

type Progress = 'waiting' | 'shown' | 'failed' | 'late';

/** @param source one that is not `none` */
function urlOf(source: PictureSource, place: number): string {
  if (source.kind === 'https') return source.url;
  return source.kind === 'ipfs' ? gatewayUrl(GATEWAYS[place]!, source.path) : '';
}

/** The file itself, once it may be loaded. Another URL makes another one: give it as the key. */
function Media({ url, show, title }: { url: string; show: Show; title: string }) {
  const [progress, setProgress] = useState<Progress>('waiting');
  useEffect(() => {
    const timer = setTimeout(
      () => setProgress((now) => (now === 'waiting' ? 'late' : now)),
      PATIENCE_MS,
    );
    return () => clearTimeout(timer);
  }, []);
  const host = URL.parse(url)?.host;
  const shared = {
    class: progress === 'shown' ? 'picture shown' : 'picture',
    src: url,
    onError: () => setProgress('failed'),
  };
  const Player = show === 'video' ? 'video' : 'audio';
  const label = `Claimed by the metadata of ${title}`;
  return (
    <>
      {progress !== 'failed' && show === 'picture' && (
        <img
          {...shared}
          alt={label}
          referrerpolicy="no-referrer"
          decoding="async"
          onLoad={() => setProgress('shown')}
        />
      )}
      {progress !== 'failed' && show !== 'picture' && (
        <Player
          {...shared}
          aria-label={label}
          controls
          loop={show === 'video'}
          playsInline
          onLoadedData={() => setProgress('shown')}
        />
      )}
      {progress !== 'shown' && (
        <p class="over" role="status">
          {progress === 'waiting' && `Loading from ${host} …`}
          {progress === 'late' &&
            `The ${show} from ${host} is not here after 20 seconds. It may still come.`}
          {progress === 'failed' && whyNothing(show, host)}
        </p>
      )}
    </>
  );
}

/** A browser tells a page no more than that nothing came that it can show. */
function whyNothing(show: Show, host = ''): string {
  return navigator.onLine
    ? `Your browser got no ${show} from ${host} that it can show. It does not tell this page why.`
    : 'Your browser is offline.';
}

interface PictureProps {
  nftId: string;
  uri: string | undefined;
  /** Media type, as the metadata has it. */
  type: string | undefined;
  title: string;
}

/** The frame on the page of one NFT. */
export function Picture({ nftId, uri, type, title }: PictureProps) {
  const place = useGateway();
  const [isWanted, want] = useState(false);
  const source = pictureSource(uri, nftId);
  if (source.kind === 'none')
    return (
      <figure class="frame">
        <p class="over">{source.reason}</p>
      </figure>
    );
  const from = source.kind === 'https' ? source.host : GATEWAYS[place]!.title;
  const show = showOf(type);
  const url = urlOf(source, place);
  return (
    <figure class="frame">
      {show === 'link' ? (
        <div class="over">
          <a href={url} target="_blank" rel="noreferrer noopener">
            Open the file of type {type!.slice(0, 60)}
          </a>
          <p class="hint">
            It is at <strong>{from}</strong>, and not shown here. Anybody may have put anything
            there.
          </p>
        </div>
      ) : isWanted ? (
        <Media key={url} url={url} show={show} title={title} />
      ) : (
        <div class="over">
          <button type="button" class="main" onClick={() => want(true)}>
            {show === 'sound' ? 'Load sound' : `Show ${show}`}
          </button>
          <p class="hint">
            Loads it from <strong>{from}</strong>, which then sees your IP address.
          </p>
        </div>
      )}
      {source.kind === 'ipfs' && <GatewayChoice place={place} />}
    </figure>
  );
}

/** The frame in a gallery, which asks once for the whole page. */
export function Thumbnail({
  gateway,
  isWanted,
  ...of
}: PictureProps & { gateway: number; isWanted: boolean }) {
  const source = pictureSource(of.uri, of.nftId);
  return (
    <div class="frame small">
      {isWanted && source.kind !== 'none' && showOf(of.type) === 'picture' ? (
        <Media
          key={urlOf(source, gateway)}
          url={urlOf(source, gateway)}
          show="picture"
          title={of.title}
        />
      ) : (
        <Pattern id={of.nftId} />
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
