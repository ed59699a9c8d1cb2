/** Learns of every NFT that changes, misses nothing and never guesses (docs/developers.md#procedure). */
import mqtt from 'mqtt'; // 5.16.0
import type { components } from './nodeApi.ts'; // a generated client, above

const NODE = 'http://127.0.0.1:8787';
let seen = 17338; // step 1
let work = Promise.resolve();

async function catchUp(confirmed: number): Promise<void> {
  while (seen < confirmed) {
    const query = `after=${seen}&minLedgerIndex=${confirmed}`;
    const answer = await fetch(`${NODE}/api/edge/v1/changes/nfts?${query}`);
    if (!answer.ok) throw new Error(`${answer.status}: ${answer.headers.get('X-Error-Detail')}`);
    const { changes, to } = (await answer.json()) as components['schemas']['NFTChanges'];
    for (const { nftId, outputId } of changes) console.log(nftId, outputId ?? 'burned');
    seen = to;
  }
}

const client = mqtt.connect(`${NODE.replace('http', 'ws')}/api/mqtt/v1`, { protocolVersion: 4 });
client.on('connect', () => client.subscribe('milestone-info/confirmed'));
client.on('message', (_, payload) => {
  const { index } = JSON.parse(String(payload));
  work = work.then(() => catchUp(index)).catch((error) => console.error(error.message));
});
