/**
 * The follower: one Durable Object driven by its own alarm, about once a second
 * (docs/architecture.md#the-follower).
 *
 * All that counts is in D1. The object keeps two passes from running at once, and remembers blocks
 * that were fetched and not stored yet. Two objects, as during a deployment, are one too many but
 * do no harm: each write to the ledger is fenced (src/ledger/fence.ts).
 */
import { DurableObject } from 'cloudflare:workers';
import type { Database } from '../ledger/database.ts';
import { measureDatabase } from '../ledger/measure-database.ts';
import { describeError, writeLog } from '../log.ts';
import { publish } from '../nft-index/publish.ts';
import { readSettings, type Settings } from '../settings.ts';
import { openUpstreams } from '../upstream/open-upstreams.ts';
import { verifySignature } from '../verify-signature.ts';
import { fillLists } from './fill-lists.ts';
import { createFollowerMemory } from './follower-context.ts';
import type { FollowerCounts } from './follower-counts.ts';
import { stopFollowing } from './follower-status.ts';
import { followOnce, type PassResult } from './pass.ts';
import type { PassBudget } from './try-upstream.ts';

/** From the end of a pass to the next. */
const PASS_INTERVAL_MS = 1000;

/** The same once the ledger is at its final milestone: answers out of KV must stay young. */
const REST_INTERVAL_MS = 60_000;

/**
 * A pass stays below the platform's limits of one invocation: 30 s of CPU, 10,000 subrequests
 * (https://developers.cloudflare.com/workers/platform/limits/) and 1,000 D1 queries
 * (https://developers.cloudflare.com/d1/platform/limits/).
 */
const MAX_PASS_MS = 15_000;
const MAX_PASS_MILESTONES = 12;
const MAX_PASS_FETCHES = 8000;

/**
 * The two milestones that a request may be ahead of the ledger (src/node/open-node.ts), and one.
 */
const MAX_CATCH_UP_MILESTONES = 3;

/** For an upstream's answers. */
const PATIENCE = { timeout: 10_000, attempts: 3 };

/**
 * KV takes one write a second to a key. While the ledger is catching up KV is told less often: what
 * it would say is old at once, and D1 answers instead.
 */
const PUBLISH_INTERVAL_MS = 1000;
const PUBLISH_INTERVAL_BEHIND_MS = 30_000;
const PUBLISH_BUDGET = { operations: 300, statements: 200 };

export class Follower extends DurableObject<Env> {
  readonly #memory = createFollowerMemory();
  /** Where the ledger is written: rows are counted. */
  readonly #db: Database = measureDatabase(this.env.LEDGER, ({ rows_written }) => {
    this.#memory.counts.rowsWritten += rows_written;
  });
  #running: Promise<PassResult> | undefined;
  #catchingUp: Promise<PassResult> | undefined;
  /** Unix milliseconds. */
  #lastPublished = Date.now();

  /** Sees to it that the alarm is set: cheap, and harmless when it is. */
  async wake(): Promise<void> {
    if ((await this.ctx.storage.getAlarm()) === null) await this.ctx.storage.setAlarm(Date.now());
  }

  override async alarm(): Promise<void> {
    let result: PassResult = { applied: 0, behind: false };
    try {
      result = await this.pass();
    } catch (error) {
      writeLog('error', 'pass failed', { error: describeError(error) });
    }
    const { behind, ended } = result;
    if (behind || this.env.UPSTREAM_URL) {
      // without an upstream only KV is behind, which takes a write a second
      const pause = ended ? REST_INTERVAL_MS : PASS_INTERVAL_MS;
      const wait = behind && this.env.UPSTREAM_URL ? 0 : pause;
      await this.ctx.storage.setAlarm(Date.now() + wait);
    }
  }

  /** One pass; whoever asks while one is running shares it. */
  pass(): Promise<PassResult> {
    this.#running ??= this.#pass({ milestones: MAX_PASS_MILESTONES }).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /**
   * For a request that cannot wait: looks for the next milestones at once, beside a pass that may
   * be busy with tips. If both apply the same milestone, the fence lets one of them win.
   */
  catchUp(): Promise<PassResult> {
    this.#catchingUp ??= this.#pass({
      milestones: MAX_CATCH_UP_MILESTONES,
      milestonesOnly: true,
    }).finally(() => {
      this.#catchingUp = undefined;
    });
    return this.#catchingUp;
  }

  /** For GET /metrics. */
  readCounts(): FollowerCounts {
    return this.#memory.counts;
  }

  async #pass(budget: Omit<PassBudget, 'deadline' | 'fetches'>): Promise<PassResult> {
    const result = readSettings(this.env);
    if (!result.ok) throw new Error(result.problems.join('; '));
    const { settings } = result;
    // without an upstream, what an import left to publish is still to be done
    if (settings.upstreams.length === 0) {
      const published = await this.#publishIfDue(settings, PUBLISH_INTERVAL_MS);
      const filled = await fillLists(this.#db);
      return { applied: 0, behind: !published || !filled };
    }
    if (settings.milestoneKeys === undefined) {
      await stopFollowing(
        this.#db,
        'MILESTONE_PUBLIC_KEYS and MILESTONE_THRESHOLD must be set to follow a network',
      );
      return { applied: 0, behind: false };
    }
    let published = true;
    const context = {
      db: this.#db,
      upstreams: openUpstreams(settings, PATIENCE),
      keys: settings.milestoneKeys,
      verify: verifySignature,
      memory: this.#memory,
      publish: async (behind: boolean) => {
        const interval = behind ? PUBLISH_INTERVAL_BEHIND_MS : PUBLISH_INTERVAL_MS;
        published = await this.#publishIfDue(settings, interval);
      },
      retention: settings.retentionMilestones,
      finalMilestone: settings.finalMilestone,
    };
    const deadline = Date.now() + MAX_PASS_MS;
    const passed = await followOnce(context, { deadline, fetches: MAX_PASS_FETCHES, ...budget });
    // there is no rest before KV has all that the ledger has
    return { ...passed, ended: passed.ended === true && published };
  }

  /**
   * Whether nothing is left to publish. A failure stops nothing: KV repeats what D1 says, and the
   * next call goes on where this one ended.
   */
  async #publishIfDue({ nftIndex }: Settings, intervalMs: number): Promise<boolean> {
    if (Date.now() - this.#lastPublished < intervalMs) return false;
    this.#lastPublished = Date.now();
    try {
      return (await publish(this.#db, nftIndex, Date.now, PUBLISH_BUDGET)).done;
    } catch (error) {
      writeLog('error', 'publishing failed', { error: describeError(error) });
      return false;
    }
  }
}
