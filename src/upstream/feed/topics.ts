/**
 * The topics of a node's MQTT plug-in that a feed asks for
 * (https://github.com/iotaledger/inx-mqtt/blob/v1.0.0-rc.2/core/mqtt/topics.go).
 */

/** Every new block of the node, as its bytes. */
export const BLOCKS = 'blocks';

/** The payload of every new block that carries a milestone, as its bytes, type first. */
export const MILESTONES = 'milestones';

/** JSON about the milestone whose cone the node has whole now; told to new subscribers too. */
export const CONFIRMED_MILESTONE = 'milestone-info/confirmed';
