/**
 * The node's events (docs/contract.md#events), of which the page wants two: that a milestone was
 * applied, and blocks as they come. The node sends a packet a message, and the page says four, so it
 * needs no codec of MQTT.
 */

/** CONNECT: level 4, clean session, no keep-alive, as milestones keep the connection alive. */
export const CONNECT = '\x10\x0c\0\x04MQTT\x04\x02\0\0\0\0';

/** SUBSCRIBE, as packet 1, with QoS 0; and UNSUBSCRIBE. */
export const SUBSCRIBE = '\x82\x1d\0\x01\0\x18milestone-info/confirmed\0';
export const SUBSCRIBE_BLOCKS = '\x82\x0b\0\x01\0\x06blocks\0';
export const UNSUBSCRIBE_BLOCKS = '\xa2\x0a\0\x01\0\x06blocks';

/** First bytes of CONNACK, and of PUBLISH with QoS 0. */
const [CONNECT_ACK, PUBLISH] = [0x20, 0x30];

/** Before the bytes of a block: a topic, behind its length. */
const TOPIC = '\0\x06blocks';

/** The bytes of the block that a packet brings, if it does. */
export function blockIn(packet: Uint8Array): Uint8Array | undefined {
  if (packet[0] !== PUBLISH) return undefined;
  // the length of the rest has seven bits a byte
  const start = 2 + packet.subarray(1, 5).findIndex((byte) => byte < 128);
  const end = start + TOPIC.length;
  return String.fromCharCode(...packet.subarray(start, end)) === TOPIC
    ? packet.subarray(end)
    : undefined;
}

/** Is told of blocks: while there is none, the node is asked for none. */
let watcher: ((block: Uint8Array) => void) | undefined;

/** Once the node has taken the connection, as long as it lasts. */
let send: ((packet: string) => void) | undefined;

/** Calls `watch`, and no other before, for each block that comes while the page hears of milestones. */
export function watchBlocks(watch: (block: Uint8Array) => void): () => void {
  watcher = watch;
  send?.(SUBSCRIBE_BLOCKS);
  return () => {
    watcher = undefined;
    send?.(UNSUBSCRIBE_BLOCKS);
  };
}

/**
 * Connects, and calls `onMilestone` for the last milestone and for each that is applied from then
 * on. Calls `onEnd` once the connection is lost, or could not be made.
 *
 * @param origin of the node, with http: or https:
 * @returns a function that closes the connection
 */
export function listenForMilestones(
  origin: string,
  { onMilestone, onEnd }: { onMilestone(): void; onEnd(): void },
): () => void {
  const socket = new WebSocket(`${origin.replace('http', 'ws')}/api/mqtt/v1`, 'mqtt');
  socket.binaryType = 'arraybuffer';
  const say = (packet: string) =>
    socket.send(Uint8Array.from(packet, (character) => character.charCodeAt(0)));
  socket.addEventListener('open', () => say(CONNECT));
  socket.addEventListener('message', ({ data }) => {
    // of a text, its number would be the length
    if (!(data instanceof ArrayBuffer)) return;
    const packet = new Uint8Array(data);
    const block = blockIn(packet);
    if (block !== undefined) watcher?.(block);
    else if (packet[0] !== CONNECT_ACK || send !== undefined) onMilestone();
    else {
      send = say;
      say(SUBSCRIBE);
      if (watcher !== undefined) say(SUBSCRIBE_BLOCKS);
    }
  });
  const end = () => {
    send = undefined;
    onEnd();
  };
  socket.addEventListener('close', end);
  return () => {
    send = undefined;
    socket.removeEventListener('close', end);
    socket.close();
  };
}
