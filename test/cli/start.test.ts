/**
 * `npm start`: the sample, served by wrangler dev, with real requests; the examples of openapi.json
 * are among them.
 */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { unstable_readConfig } from 'wrangler';
import { loadCommand } from '../../cli/commands.ts';
import { PROJECT } from '../../cli/lib/project.ts';
import { holdAlone } from '../../cli/lib/wrangler/hold-folder.ts';
import { openLocalDatabase } from '../../cli/lib/wrangler/local-database.ts';
import { readWranglerConfig, WRANGLER_TOML } from '../../cli/lib/wrangler/wrangler-config.ts';
import { prepareSample } from '../../cli/start/prepare-sample.ts';
import { readSampleMilestone, readWhiteFlag } from '../../cli/start/sample.ts';
import { SCHEMA } from '../../src/ledger/core/head.ts';
import { ledgerStateHash } from '../../src/ledger/read/ledger-state-hash.ts';
import { fromHex, toHex } from '../../src/stardust/encoding/bytes.ts';
import { parseBlock } from '../../src/stardust/wire/block.ts';
import { outputId } from '../../src/stardust/wire/ids.ts';
import { listExampleRequests } from '../../tools/openapi/document.ts';
import examples from '../../tools/openapi/examples.json';
import { runCommand, startCommand, temporaryFolder } from '../support/cli/script-process.ts';
import { freePort } from '../support/edge/launch.ts';
import { freshRandom } from '../support/network/fresh-random.ts';
import { nftIdOfOutput } from '../support/payloads/outputs.ts';

const folder = temporaryFolder();

/**
 * NFT IDs and output IDs of all that the milestone's transactions create; none of them is spent in
 * it again.
 */
function mintedNfts(): [nftId: string, outputId: string][] {
  return readSampleMilestone(17339).blocks.flatMap((hex) => {
    const result = parseBlock(fromHex(hex));
    const transaction = result.ok ? result.parsed.transaction : undefined;
    return (transaction?.value.essence.outputs ?? []).flatMap((value, i): [string, string][] => {
      const id = outputId(transaction!.id, i);
      const nftId = nftIdOfOutput(value, id);
      return nftId === undefined ? [] : [[toHex(nftId), toHex(id)]];
    });
  });
}

async function isSilent(port: number): Promise<boolean> {
  for (let i = 0; i < 50; i++) {
    const answer = await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined);
    if (answer === undefined) return true;
    await sleep(100);
  }
  return false;
}

/** Starts it and waits for the two requests that it prints. */
async function start(port: number, persistTo: string) {
  const running = startCommand('start', ['--port', String(port), '--persist-to', persistTo]);
  await running.until(/"appliedMerkleRoot"/);
  return { ...running, printed: running.log.join('\n') };
}

/** Tips are ordered by when they were stored, which the kills before have changed. */
function withSortedTips(answer: unknown): unknown {
  const { tips } = answer as { tips?: string[] };
  return tips === undefined ? answer : { tips: tips.toSorted() };
}

async function ledgerHash(persistTo: string): Promise<string> {
  const db = await openLocalDatabase(persistTo, readWranglerConfig());
  try {
    return (await ledgerStateHash(db)).toHex();
  } finally {
    db.close();
  }
}

it('has the address and the folder of a plain wrangler dev', async () => {
  const { options } = (await loadCommand('start'))!;
  const defaults = Object.fromEntries(options.map((each) => [each.long, each.defaultValue]));
  const { dev } = unstable_readConfig({ config: WRANGLER_TOML }, { hideWarnings: true });
  expect(defaults).toEqual({
    '--ip': dev.ip,
    '--port': String(dev.port),
    // by its documentation: https://developers.cloudflare.com/workers/wrangler/commands/#dev
    '--persist-to': join(PROJECT, '.wrangler/state'),
  });
  // of two starts at once, both would find 9229 free, and one would end
  expect(dev.inspector_port).toBe(0);
});

const DEATHS = process.env.SLOW ? 3 : 1;

describe('npm start', () => {
  const persistTo = join(folder, 'state');

  it('goes on where it was killed while preparing, and serves the sample', async () => {
    const random = freshRandom();
    for (let deaths = 0; deaths < DEATHS; deaths++) {
      const { child, ended } = startCommand('start', ['--port', '0', '--persist-to', persistTo]);
      await sleep(random.between(300, 800));
      child.kill('SIGKILL');
      await ended;
    }
    const port = await freePort();
    const origin = `http://127.0.0.1:${port}`;
    const { child, ended, printed } = await start(port, persistTo);

    const minted = mintedNfts();
    expect(minted).toHaveLength(23);
    for (const [nftId, id] of minted) {
      const answer = await fetch(`${origin}/api/indexer/v1/outputs/nft/${nftId}`);
      expect([answer.status, await answer.json()]).toEqual([
        200,
        { ledgerIndex: 17339, items: [id] },
      ]);
    }
    for (const unknown of [`0x${'00'.repeat(32)}`, `0x${'ab'.repeat(32)}`]) {
      expect((await fetch(`${origin}/api/indexer/v1/outputs/nft/${unknown}`)).status).toBe(404);
    }
    const { request, expected } = readWhiteFlag();
    const answer = await fetch(`${origin}/api/core/v2/whiteflag`, {
      method: 'POST',
      body: JSON.stringify(request),
    });
    expect([answer.status, await answer.json()]).toEqual([200, expected]);
    for (const [operationId, { path, body }] of listExampleRequests()) {
      const response = await fetch(`${origin}${path}`, {
        ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      });
      expect([operationId, withSortedTips(await response.json())]).toEqual([
        operationId,
        withSortedTips(examples[operationId as keyof typeof examples]),
      ]);
    }
    // on a sample of 2022
    expect((await fetch(`${origin}/health`)).status).toBe(503);

    const [nftId, id] = minted.find(([each]) => printed.includes(each))!;
    expect(printed).toContain(
      `curl ${origin}/api/indexer/v1/outputs/nft/${nftId}\n  answers {"ledgerIndex":17339,"items":["${id}"]}`,
    );
    expect(printed).toContain(
      `-d '${JSON.stringify(request)}'\n  answers ${JSON.stringify(expected)}`,
    );

    child.kill('SIGINT');
    expect((await ended).code).toBe(0);
    expect(await isSilent(port)).toBe(true);
    const smooth = join(folder, 'smooth');
    await prepareSample(smooth, readWranglerConfig(), () => {});
    expect(await ledgerHash(persistTo)).toBe(await ledgerHash(smooth));
  });

  it('does nothing again, and leaves nothing running when it is killed', async () => {
    const port = await freePort();
    const { child, ended, printed } = await start(port, persistTo);
    expect(printed).not.toMatch(/Importing|Taking|Publishing/);
    child.kill('SIGKILL');
    await ended;
    expect(await isSilent(port)).toBe(true);
  });

  it('does not touch the ledger of another network', async () => {
    const foreign = join(folder, 'foreign');
    const file = join(folder, 'made.bin');
    const { writeMadeSnapshot } = await import('../support/cli/made-snapshot.ts');
    writeMadeSnapshot(file, 1);
    await runCommand('import', file, '--persist-to', foreign);
    const { code, stderr } = await runCommand('start', '--port', '0', '--persist-to', foreign);
    expect(code).toBe(1);
    expect(stderr).toBe(
      `${foreign} holds the ledger of network made at milestone 10, which the sample would replace. ` +
        'Name another folder: npx stardust-edge start --persist-to DIR; or serve that ledger: ' +
        `npx stardust-edge serve --persist-to ${foreign}\n`,
    );
  });

  it.runIf(process.env.SLOW)(
    'does not touch a ledger of its network of another schema',
    async () => {
      const old = join(folder, 'old');
      const config = readWranglerConfig();
      await prepareSample(old, config, () => {});
      const db = await openLocalDatabase(old, config);
      onTestFinished(() => db.close());
      db.exec('UPDATE head SET schema = 1, ledger = 9000000');
      await expect(prepareSample(old, config, () => {})).rejects.toThrow(
        `${old} holds the ledger of network shimmer at milestone 9000000, which the sample would`,
      );
      db.exec('UPDATE head SET ledger = 17339');
      await prepareSample(old, config, () => {});
      expect(await db.prepare('SELECT schema FROM head').first('schema')).toBe(SCHEMA);
    },
  );

  it('imports nothing while another command imports into its folder', async () => {
    const shared = join(folder, 'shared');
    using _other = holdAlone(shared, 'import');
    await expect(prepareSample(shared, readWranglerConfig(), () => {})).rejects.toThrow(
      `another import of ${shared} is under way: wait until it has ended`,
    );
  });

  it('finds a busy port before it makes anything, and names a call that works', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const unmade = join(folder, 'unmade');
    const args = ['--port', String(port), '--persist-to', unmade];
    for (const [name, call] of [
      ['start', 'npm start -- --port N'],
      ['other', 'npx stardust-edge start --port N'],
    ] as const) {
      const { ended } = startCommand('start', args, { npm_lifecycle_event: name });
      expect(await ended).toEqual({
        code: 1,
        stdout: '',
        stderr: `port ${port} of 127.0.0.1 is in use: ${call} names another\n`,
      });
    }
    expect(existsSync(unmade)).toBe(false);
  });

  it('names its own option for an address at which nothing can listen', async () => {
    for (const [address, sentence] of [
      ['fe80::1%lo', 'has a zone: name another address by --ip'],
      ['192.0.2.1', 'is no address of this machine (EADDRNOTAVAIL): name another by --ip'],
    ] as const) {
      const { code, stderr } = await runCommand(
        'start',
        '--ip',
        address,
        '--persist-to',
        persistTo,
      );
      expect([code, stderr]).toEqual([1, `${address} ${sentence}\n`]);
    }
  });

  it('names how to install wrangler, which npm leaves out with NODE_ENV=production', async () => {
    const without = `
      import fs from 'node:fs';
      const { existsSync } = fs;
      fs.existsSync = (path) => !String(path).includes('wrangler-dist') && existsSync(path);
      (await import('node:module')).syncBuiltinESMExports();`;
    const unmade = join(folder, 'without-wrangler');
    const { ended } = startCommand('start', ['--port', '0', '--persist-to', unmade], {
      NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(without)}`,
    });
    const stderr = 'wrangler is not installed: run npm ci --include=dev\n';
    expect(await ended).toEqual({ code: 1, stdout: '', stderr });
    expect(existsSync(unmade)).toBe(false);
  });

  it('names a clock that is wrong', async () => {
    const early = 'data:text/javascript,Date.now=()=>0';
    for (const command of ['start', 'serve']) {
      const { ended } = startCommand(command, ['--port', '0', '--persist-to', persistTo], {
        NODE_OPTIONS: `--import ${early}`,
      });
      const { code, stderr } = await ended;
      expect([code, stderr]).toEqual([
        1,
        'the clock of this machine says 1970-01-01, before the compatibility date of ' +
          `wrangler.toml, ${readWranglerConfig().compatibilityDate}: set the clock\n`,
      ]);
    }
  });
});
