/** Reasons to end a connection, and the codes with which it is closed (RFC 6455, 7.4.1). */
export const CLOSE_CODES = {
  /** Said DISCONNECT. */
  disconnected: 1000,
  gone: 1000,
  /** Another client has connected with its ID. */
  replaced: 1000,
  malformed: 1002,
  /** More topics, or more packets at once, than one client may have. */
  'over-limit': 1008,
  /** Much was sent to its address: it shows that it reads if it goes and connects again. */
  'used-up': 1012,
  silent: 1008,
  /** D1 cannot be read. */
  failed: 1011,
  /** Half a packet, or what was published last, was lost when the object was evicted. */
  evicted: 1012,
  /** Events were lost: milestones were pruned, the ledger was replaced, or the prefix changed. */
  'ledger-moved': 1012,
  full: 1013,
} as const;

export type CloseReason = keyof typeof CLOSE_CODES;

/** Whether no close frame has the code (RFC 6455, 7.4.1): 1005 says that there was none. */
export const isReserved = (code: number): boolean =>
  code < 1000 || code > 4999 || [1004, 1005, 1006, 1015].includes(code);
