/**
 * The follower: one Durable Object that runs a pass about once a second
 * (docs/architecture.md#the-follower). It starts jobs, each once at a time (jobs.ts), and holds
 * blocks that are not stored yet; all that counts is in D1. Two objects, as during a deployment, do
 * no harm: each write to the ledger is fenced (src/ledger/core/fence.ts).
 */
import { DurableObject } from 'cloudflare:workers';
import type { Database } from '../ledger/core/database.ts';
import { limitBytesOf } from '../ledger/core/database-size.ts';
import { readHead } from '../ledger/core/head.ts';
import type { NotBrought, WantedOfFollower } from '../ledger/intake/block-source.ts';
import { openLedgerBinding } from '../ledger/open-ledger.ts';
import { openIndexLedger } from '../nft-index/d1-ledger.ts';
import { publish } from '../nft-index/publish.ts';
import { hasPassed, pause } from '../platform/clock.ts';
import { describeError } from '../platform/log.ts';
import { verifySignature } from '../platform/verify-signature.ts';
import { readSettings, type Settings } from '../settings.ts';
import type { MilestoneKeys } from '../stardust/milestone-keys.ts';
import { createUpstreams, type Patience } from '../upstream/rest-upstream.ts';
import { applyPushed, isSpent, type PassBudget } from './apply-next.ts';
import {
  type Bringer,
  createBringer,
  FETCH_MS,
  patienceOf,
  type UnstoredBlock,
} from './bring/bring-blocks.ts';
import {
  createFollowerMemory,
  dropPushed,
  type FollowerContext,
  takePushed,
  watchDatabase,
} from './follower-context.ts';
import type { FollowerCounts } from './follower-counts.ts';
import { createAnnouncers, type Feed, type FollowerPart } from './follower-part.ts';
import { stopFollowing } from './follower-status.ts';
import { createJob } from './jobs.ts';
import { followOnce, type PassResult } from './pass.ts';
import { FULL_PACK, storePushed } from './pushed/store-pushed.ts';
import { keepUp } from './upkeep.ts';

/** Milliseconds from the end of a pass to the next. */
const PASS_INTERVAL_MS = 1000;

/** Milliseconds between stores of pushed blocks: each costs two rows. No request waits for it. */
const STORE_INTERVAL_MS = 2000;

/** Interval of passes at the final milestone; below the two minutes for which KV's copy answers. */
const REST_INTERVAL_MS = 60_000;

/** Interval of the alarm, which restarts an evicted object; a timer starts passes, as rows cost. */
const ALARM_INTERVAL_MS = 10_000;

/**
 * Limits of a pass, below the platform's of one invocation: 30 s of CPU, 10,000 subrequests and
 * 1,000 D1 queries (https://developers.cloudflare.com/workers/platform/limits/,
 * https://developers.cloudflare.com/d1/platform/limits/).
 */
const MAX_PASS_MS = 15_000;
const MAX_PASS_MILESTONES = 12;
const MAX_PASS_FETCHES = 8000;

/** A request may be two milestones ahead of the ledger (src/node/answer-once-caught-up.ts). */
const MAX_CATCH_UP_MILESTONES = 3;

const PATIENCE = { timeout: 10_000, attempts: 3 };

/** Milliseconds from the beginning of one look for a request to the next. */
const CATCH_UP_INTERVAL_MS = 200;

/** KV takes one write a second to a key. KV may be late while the ledger catches up. */
const PUBLISH_INTERVAL_MS = 1000;
const PUBLISH_INTERVAL_BEHIND_MS = 30_000;
const PUBLISH_BUDGET = { operations: 300, statements: 200 };

export class CoreFollower extends DurableObject<Env> {
  readonly #memory = createFollowerMemory();
  readonly #log = this.#memory.log;
  readonly #db: Database = watchDatabase(openLedgerBinding(this.env), this.#memory);
  readonly #openUpstreams = createUpstreams();
  readonly #announcer = createAnnouncers(this.modules, this.env, this.#log);
  #feed: Feed | undefined;
  #stopStoring: (() => void) | undefined;
  /** Unix milliseconds when the last catch-up began. */
  #lastCatchUp = 0;
  readonly #bringer: Bringer = createBringer((urgency) => {
    const settings = this.#settings();
    const { milestoneKeys } = settings;
    if (milestoneKeys === undefined) throw new Error('no keys are set');
    const isFed = () => this.#feed !== undefined && this.#feed.state() !== 'down';
    const voters = this.#openUpstreams(settings, { ...PATIENCE, timeout: FETCH_MS, urgency });
    const patience = patienceOf(settings, urgency);
    return { ...this.#context(settings, milestoneKeys, patience), voters, isFed };
  });
  #lastPublished = Date.now();
  /** Whether KV had all that the ledger has, at the last publication. */
  #published = false;

  /** Milliseconds: how far ahead the alarm may be. */
  #longestPause = ALARM_INTERVAL_MS;

  #cancelPass = () => {};

  /** Blocks that a feed brought since a pack of them was stored. */
  #came = 0;

  readonly #pass = createJob(this.#log, 'follower.pass-failed', () =>
    this.#follow({ milestones: MAX_PASS_MILESTONES }),
  );

  /** Catches up for a request, beside a pass that may be busy: the fence lets one of them win. */
  readonly #catchUp = createJob(
    this.#log,
    'follower.pass-failed',
    () => {
      this.#lastCatchUp = Date.now();
      return this.#follow({ milestones: MAX_CATCH_UP_MILESTONES, milestonesOnly: true });
    },
    // requests about milestones that do not come must not query the upstream all the time
    async () => {
      const wait = this.#lastCatchUp + CATCH_UP_INTERVAL_MS - Date.now();
      if (wait > 0 && wait <= CATCH_UP_INTERVAL_MS) await pause(wait);
    },
  );

  readonly #takeMilestones = createJob(this.#log, 'follower.pushed-milestone-failed', async () => {
    const settings = this.#settings();
    if (settings.milestoneKeys === undefined) return;
    await applyPushed(this.#context(settings, settings.milestoneKeys));
    // the upstream has the milestone whole: what the feed did not bring of it is fetched
    const { milestones, lastLedger } = this.#memory;
    if (lastLedger !== undefined && milestones.confirmed === lastLedger.ledger + 1)
      await this.#catchUp.next();
  });

  readonly #storePushed = createJob(this.#log, 'follower.pushed-not-stored', async () => {
    const settings = this.#settings();
    const { milestoneKeys: keys } = settings;
    if (keys !== undefined) await storePushed(this.#context(settings, keys));
  });

  /** KV repeats what D1 says, so nobody who moves the ledger waits for it. */
  readonly #publish = createJob(this.#log, 'nft-index.publish-failed', async () => {
    this.#lastPublished = Date.now();
    this.#published = false;
    try {
      const { nftIndex, versionId } = this.#settings();
      const ledger = openIndexLedger(this.#db);
      const result = await publish(ledger, nftIndex, Date.now, PUBLISH_BUDGET, versionId);
      this.#memory.queries += result.used.operations;
      this.#published = result.done;
    } catch (error) {
      // how many it did is not known
      this.#memory.queries += PUBLISH_BUDGET.operations;
      // a later run goes on where this one ended; KV refuses a second write to a key within a second
      const level = String(error).includes(' 429 ') ? 'warn' : 'error';
      this.#log(level, 'nft-index.publish-failed', { error: describeError(error) });
    }
  });

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#memory.announce = this.#announcer.stored;
  }

  /** Modules around the core. src/worker.ts overrides it, as the platform makes the object. */
  protected get modules(): readonly FollowerPart[] {
    return [];
  }

  /**
   * Sets the alarm if it is not set, was set by a clock that was ahead, or failed: the platform
   * waits twice as long after each failure.
   */
  async wake(): Promise<void> {
    const [alarm, now] = [await this.ctx.storage.getAlarm(), Date.now()];
    if (alarm === null || Math.abs(alarm - now) > this.#longestPause)
      await this.ctx.storage.setAlarm(now);
  }

  override async alarm(): Promise<void> {
    this.#memory.queriesBefore = this.#memory.queries;
    await this.#setAlarm(ALARM_INTERVAL_MS);
    await this.#passAndRest();
  }

  /** Runs one pass, and schedules the next one. */
  async #passAndRest(): Promise<void> {
    this.#cancelPass();
    let result: PassResult;
    try {
      result = await this.pass();
    } catch (error) {
      this.#log('error', 'follower.pass-failed', { error: describeError(error) });
      // it may have come to a limit of its invocation: the next pass gets its own
      this.#cancelPass();
      return this.#setAlarm(PASS_INTERVAL_MS);
    }
    const { behind, ended, isBuilding } = result;
    this.#cancelPass();
    if (!behind && !this.env.UPSTREAM_URL) return this.ctx.storage.deleteAlarm();
    // the platform's limits hold for an alarm and all passes after it: a long pass gets its own
    if (behind && (this.env.UPSTREAM_URL || isBuilding)) return this.#setAlarm(0);
    if (ended) return this.#setAlarm(REST_INTERVAL_MS);
    if (isSpent(this.#memory)) return this.#setAlarm(PASS_INTERVAL_MS);
    const timer = setTimeout(() => this.ctx.waitUntil(this.#passAndRest()), PASS_INTERVAL_MS);
    this.#cancelPass = () => clearTimeout(timer);
  }

  async #setAlarm(waitMs: number): Promise<void> {
    this.#longestPause = Math.max(waitMs, ALARM_INTERVAL_MS);
    await this.ctx.storage.setAlarm(Date.now() + waitMs);
  }

  /** Runs one pass; callers during a pass share it. */
  pass(): Promise<PassResult> {
    return this.#pass.join();
  }

  catchUp(): Promise<PassResult> {
    // one under way may have asked before there was what the caller knows of
    return this.#catchUp.next();
  }

  readCounts(): FollowerCounts {
    return this.#memory.counts;
  }

  bring(wanted: WantedOfFollower, client: string): Promise<NotBrought | undefined> {
    return this.#bringer.bring(wanted, client);
  }

  readUnstored(id: string, client: string): Promise<UnstoredBlock | undefined> {
    return this.#bringer.readUnstored(id, client);
  }

  async #follow(budget: Omit<PassBudget, 'deadline' | 'fetches'>): Promise<PassResult> {
    const settings = this.#settings();
    // without an upstream, what an import left to publish is still to be done
    if (settings.upstreams.length === 0) {
      if (this.#mayPublish(PUBLISH_INTERVAL_MS)) await this.#publish.join();
      const tools = this.#tools(settings, PATIENCE);
      const isBuilding = Object.values(await keepUp(tools, true)).includes('more');
      // an import, or Time Travel, may have come
      const head = await readHead(this.#db).catch(() => undefined);
      if (head !== undefined) this.#announcer.moved(head);
      return { applied: 0, behind: !this.#published || isBuilding, isBuilding };
    }
    if (settings.milestoneKeys === undefined) {
      const reason =
        'MILESTONE_PUBLIC_KEYS and MILESTONE_THRESHOLD must be set to follow a network';
      await stopFollowing(this.#db, reason, this.#log);
      return { applied: 0, behind: false };
    }
    const context = this.#context(settings, settings.milestoneKeys);
    const deadline = Date.now() + MAX_PASS_MS;
    let ended = false;
    try {
      const passed = await followOnce(context, { deadline, fetches: MAX_PASS_FETCHES, ...budget });
      ended = passed.ended === true;
      // there is no rest before KV and the lists have all that the ledger has
      if (ended) await this.#publish.join();
      return { ...passed, ended: ended && this.#published && !passed.isUnfinished };
    } finally {
      this.#announce();
      if (ended) this.#closeFeed();
      // blocks are judged by what the first pass reads
      else if (this.#memory.lastLedger !== undefined) this.#openFeed(settings);
    }
  }

  /** @param index index of the milestone that was applied; absent: that of the ledger */
  #announce(index?: number): void {
    const { lastLedger } = this.#memory;
    if (lastLedger === undefined) return;
    const { generation, ledger } = lastLedger;
    this.#announcer.moved({ generation, ledger: Math.max(index ?? 0, ledger) });
  }

  #settings(): Settings {
    const result = readSettings(this.env);
    if (!result.ok) throw new Error(result.problems.join('; '));
    return result.settings;
  }

  #context(
    settings: Settings,
    keys: MilestoneKeys,
    patience: Patience = PATIENCE,
  ): FollowerContext {
    return {
      ...this.#tools(settings, patience),
      keys,
      isFed: () => this.#feed?.state() === 'live',
      publish: async (behind: boolean) => {
        const interval = behind ? PUBLISH_INTERVAL_BEHIND_MS : PUBLISH_INTERVAL_MS;
        if (this.#mayPublish(interval)) this.#publish.start();
      },
      announce: (index) => this.#announce(index),
    };
  }

  #tools(settings: Settings, patience: Patience) {
    return {
      db: this.#db,
      upstreams: this.#openUpstreams(settings, patience),
      verify: verifySignature,
      memory: this.#memory,
      retention: settings.retentionMilestones,
      keepsHistory: settings.keepsHistory,
      ledgerParts: this.modules.flatMap(({ ledger }) => ledger ?? []),
      databaseLimit: limitBytesOf(settings),
      indexAll: settings.indexAll,
      finalMilestone: settings.finalMilestone,
      moduleUpkeep: Object.assign({}, ...this.modules.map(({ upkeep }) => upkeep)),
    };
  }

  /** The connection and the timer last as long as the object, which its alarm keeps alive. */
  #openFeed(settings: Settings): void {
    const [part, another] = this.modules.filter(({ openFeed }) => openFeed !== undefined);
    if (this.#feed !== undefined || part === undefined) return;
    try {
      if (another !== undefined) throw new Error('two modules have a feed, where one may');
      this.#feed = part.openFeed!(settings, this.#memory.upstreams.ranking, (kind, pushed) => {
        takePushed(this.#memory, kind, pushed);
        if (kind === 'block') this.#blockCame();
        else this.#milestoneCame();
      });
      const timer = setInterval(this.#storePushed.start, STORE_INTERVAL_MS);
      this.#stopStoring = () => clearInterval(timer);
    } catch (error) {
      this.#log('error', 'follower.feed-not-opened', { error: describeError(error) });
    }
  }

  /** Closes the feed at the final milestone: what is pushed now is no part of the ledger. */
  #closeFeed(): void {
    this.#stopStoring?.();
    this.#feed?.stop();
    this.#feed = undefined;
    dropPushed(this.#memory);
  }

  /** Stores a full pack at once: it is a row by itself, and nobody waits for the interval. */
  #blockCame(): void {
    if (++this.#came < FULL_PACK) return;
    this.#came = 0;
    this.#storePushed.start();
  }

  #milestoneCame(): void {
    const { milestones, lastLedger } = this.#memory;
    const next = (lastLedger?.ledger ?? 0) + 1;
    if (milestones.at(next).length === 0 && milestones.confirmed !== next) return;
    this.#takeMilestones.start();
  }

  #mayPublish(intervalMs: number): boolean {
    return hasPassed(intervalMs, this.#lastPublished, Date.now());
  }
}
