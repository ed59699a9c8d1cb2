/**
 * What both the requests of clients and the answers of upstreams hold: integers and hex, as JSON.
 */
import * as v from 'valibot';

export const MAX_UINT32 = 0xffff_ffff;

export const uint32 = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MAX_UINT32));

/** 0x, or 0X, and so many hex digits. */
export function hex(digits: number) {
  return v.pipe(v.string(), v.regex(new RegExp(`^0[xX][0-9a-fA-F]{${digits}}$`)));
}

/** The hex digits of an ID in lower case, without 0x. */
export function digitsOf(id: string): string {
  return id.slice(2).toLowerCase();
}
