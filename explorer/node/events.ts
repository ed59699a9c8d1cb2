/**
 * The node's events (docs/contract.md#events), of which the page wants one: that a milestone was
 * applied. It says the same two packets each time, and what it hears only makes it read, so it needs
 * no codec of MQTT.
 */

/** CONNECT: level 4, clean session, no keep-alive, as milestones keep the connection alive. */
export const CONNECT = '\x10\x0c\0\x04MQTT\x04\x02\0\0\0\0';

/** SUBSCRIBE, as packet 1, with QoS 0. */
export const SUBSCRIBE = '\x82\x1d\0\x01\0\x18milestone-info/confirmed\0';

/** First byte of CONNACK. */
const CONNECT_ACK = 0x20;

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
  const send = (packet: string) =>
    socket.send(Uint8Array.from(packet, (character) => character.charCodeAt(0)));
  socket.addEventListener('open', () => send(CONNECT));
  socket.addEventListener('message', ({ data }) => {
    if (new Uint8Array(data as ArrayBuffer)[0] === CONNECT_ACK) send(SUBSCRIBE);
    else onMilestone();
  });
  socket.addEventListener('close', onEnd);
  return () => {
    socket.removeEventListener('close', onEnd);
    socket.close();
  };
}
