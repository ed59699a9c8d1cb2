/**
 * The follower: one Durable Object driven by its own alarm, about once a second (design §5).
 *
 * All that counts is in D1; the object only keeps two passes from running at once, and blocks in memory that were fetched and not stored yet. Two objects,
 * as during a deployment, are one too many but do no harm: each write to the ledger is fenced.
 */

import { DurableObject } from 'cloudflare:workers';
import { describeError, writeLog } from '../log.ts';
import { publish } from '../nft-index/publish.ts';
import { readSettings, type Settings } from '../settings.ts';
import { openUpstreams } from '../upstream/open-upstreams.ts';
import { verifySignature } from '../verify-signature.ts';
import { stopFollowing } from './follower-status.ts';
import { createPassMemory, followOnce, type PassBudget, type PassResult } from './pass.ts';

/** Milliseconds from the end of a pass to the next. */
const INTERVAL = 1000;

/** A pass stays below the platform's limits an invocation: 30 s of CPU, 1,000 statements, 10,000 subrequests (platform.md §1). */
const PASS_TIME = 15_000;
const PASS_MILESTONES = 12;
const PASS_FETCHES = 8000;

/** What a request may be ahead of us, and one more. */
const CATCH_UP_MILESTONES = 3;

/** Milliseconds for one answer of an upstream, and tries. */
const ANSWER_TIME = 10_000;
const ATTEMPTS = 3;

/** KV takes one write a second to a key. Of a ledger that is catching up KV is told less often: what it would say is old at once, and D1 answers instead. */
const PUBLISH_INTERVAL = 1000;
const PUBLISH_INTERVAL_BEHIND = 30_000;
const PUBLISH_BUDGET = { operations: 300, statements: 200 };

export class Follower extends DurableObject<Env> {
  readonly #memory = createPassMemory();
  #running: Promise<PassResult> | undefined;
  #catchingUp: Promise<PassResult> | undefined;
  #published = Date.now();

  /** Sees to it that the alarm is set: cheap, and harmless when it is. */
  async wake(): Promise<void> {
    if ((await this.ctx.storage.getAlarm()) === null) await this.ctx.storage.setAlarm(Date.now());
  }

  override async alarm(): Promise<void> {
    let behind = false;
    try {
      behind = (await this.pass()).behind;
    } catch (error) {
      writeLog('error', 'pass failed', { error: describeError(error) });
    }
    if (behind || this.env.UPSTREAM_URL) {
      // without an upstream only KV is behind, which takes a write a second
      await this.ctx.storage.setAlarm(
        Date.now() + (behind && this.env.UPSTREAM_URL ? 0 : INTERVAL),
      );
    }
  }

  /** One pass; whoever asks while one is running shares it. */
  pass(): Promise<PassResult> {
    this.#running ??= this.#pass({ milestones: PASS_MILESTONES }).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** For a request that cannot wait: looks for the next milestones at once, beside a pass that may be busy with tips. The fence lets one of both win. */
  catchUp(): Promise<PassResult> {
    this.#catchingUp ??= this.#pass({
      milestones: CATCH_UP_MILESTONES,
      milestonesOnly: true,
    }).finally(() => {
      this.#catchingUp = undefined;
    });
    return this.#catchingUp;
  }

  async #pass(budget: Omit<PassBudget, 'deadline' | 'fetches'>): Promise<PassResult> {
    const result = readSettings(this.env);
    if (!result.ok) throw new Error(result.problems.join('; '));
    const { settings } = result;
    // without an upstream, what an import left to publish is still to be done
    if (settings.upstreams.length === 0)
      return { applied: 0, behind: !(await this.#publishIfDue(settings, PUBLISH_INTERVAL)) };
    if (settings.milestoneKeys === undefined) {
      await stopFollowing(
        settings.ledger,
        'MILESTONE_PUBLIC_KEYS and MILESTONE_THRESHOLD must be set to follow a network',
      );
      return { applied: 0, behind: false };
    }
    const following = {
      db: settings.ledger,
      upstreams: openUpstreams(settings, ANSWER_TIME, ATTEMPTS),
      keys: settings.milestoneKeys,
      verify: verifySignature,
      memory: this.#memory,
      publish: async (behind: boolean) =>
        void (await this.#publishIfDue(
          settings,
          behind ? PUBLISH_INTERVAL_BEHIND : PUBLISH_INTERVAL,
        )),
      retention: settings.retentionMilestones,
    };
    return followOnce(following, {
      deadline: Date.now() + PASS_TIME,
      fetches: PASS_FETCHES,
      ...budget,
    });
  }

  /** Whether nothing is left to publish. A failure holds nothing up: KV is a projection, and the next call goes on where this one ended. */
  async #publishIfDue({ ledger, nftIndex }: Settings, interval: number): Promise<boolean> {
    if (Date.now() - this.#published < interval) return false;
    this.#published = Date.now();
    try {
      return (await publish(ledger, nftIndex, Date.now, PUBLISH_BUDGET)).done;
    } catch (error) {
      writeLog('error', 'publishing failed', { error: describeError(error) });
      return false;
    }
  }
}
