// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// LZMA streams (.lzma with their size in the header), which are a fifth smaller than gzip. Igor Pavlov's specification: an
// adaptive binary range coder; literals in the context of the byte before and of the byte at the last distance, matches
// by length and distance.

const TOP = 2 ** 24;
// places of the probabilities: by state and position, of lengths, of distances; literals last
const [MATCH, REP, REP0, REP1, REP2, REP0_LONG, LENGTH, REP_LENGTH, SLOT, SPECIAL, ALIGN, LITERAL] = [0, 192, 204, 216, 228, 240, 432, 946, 1460, 1716, 1831, 1847];

/** The bytes of a stream; an error if it is damaged. */
export function unlzma(input: Uint8Array): Uint8Array<ArrayBuffer> {
  const [lc, lp, pb] = [input[0] % 9, Math.floor(input[0] / 9) % 5, Math.floor(input[0] / 45)];
  const size = new DataView(input.buffer, input.byteOffset).getUint32(5, true);
  const out = new Uint8Array(size);
  const chance = new Uint16Array(LITERAL + 0x300 * 2 ** (lc + lp)).fill(1024);
  let at = 18;
  let code = new DataView(input.buffer, input.byteOffset).getUint32(14);
  let range = 2 ** 32 - 1;
  const shift = (): void => {
    if (range >= TOP) return;
    if (at >= input.length) throw new Error('a compressed part of the page is cut off');
    range = (range << 8) >>> 0;
    code = ((code << 8) | input[at++]) >>> 0;
  };
  const bit = (place: number): number => {
    const p = chance[place];
    const bound = (range >>> 11) * p;
    const one = code < bound ? 0 : 1;
    if (one === 0) {
      range = bound;
      chance[place] = p + ((2048 - p) >> 5);
    } else {
      range -= bound;
      code -= bound;
      chance[place] = p - (p >> 5);
    }
    shift();
    return one;
  };
  const tree = (place: number, bits: number): number => {
    let m = 1;
    for (let i = 0; i < bits; i++) m = (m << 1) | bit(place + m);
    return m - (1 << bits);
  };
  const reversed = (place: number, bits: number): number => {
    let [m, sum] = [1, 0];
    for (let i = 0; i < bits; i++) {
      const one = bit(place + m);
      m = (m << 1) | one;
      sum |= one << i;
    }
    return sum;
  };
  const direct = (bits: number): number => {
    let sum = 0;
    for (let i = 0; i < bits; i++) {
      range >>>= 1;
      const one = code >= range ? 1 : 0;
      if (one === 1) code -= range;
      shift();
      sum = (sum << 1) | one;
    }
    return sum;
  };
  const length = (place: number, column: number): number => {
    if (bit(place) === 0) return 2 + tree(place + 2 + 8 * column, 3);
    return bit(place + 1) === 0 ? 10 + tree(place + 130 + 8 * column, 3) : 18 + tree(place + 258, 8);
  };
  const distance = (bytes: number): number => {
    const slot = tree(SLOT + 64 * Math.min(bytes - 2, 3), 6);
    if (slot < 4) return slot;
    const bits = (slot >> 1) - 1;
    const start = (2 | (slot & 1)) << bits;
    return slot < 14 ? start + reversed(SPECIAL + start - slot, bits) : start + (direct(bits - 4) << 4) + reversed(ALIGN, 4);
  };
  let [state, n] = [0, 0];
  const last = [0, 0, 0, 0]; // distances
  const literal = (): void => {
    const context = LITERAL + 0x300 * (((n & ((1 << lp) - 1)) << lc) + ((n > 0 ? out[n - 1] : 0) >> (8 - lc)));
    let symbol = 1;
    for (let other = state >= 7 ? out[n - last[0] - 1] : 0, same = state >= 7; symbol < 256; other <<= 1) {
      const expected = (other >> 7) & 1;
      const one = bit(context + (same ? (1 + expected) << 8 : 0) + symbol);
      symbol = (symbol << 1) | one;
      same &&= one === expected;
    }
    out[n++] = symbol;
    state = state < 4 ? 0 : state - (state < 10 ? 3 : 6);
  };
  /** The length of the next match; its distance is the first of `last`. */
  const match = (column: number): number => {
    const late = state < 7 ? 0 : 3;
    if (bit(REP + state) === 0) {
      const bytes = length(LENGTH, column);
      last.unshift(distance(bytes));
      last.pop();
      state = 7 + late;
      return bytes;
    }
    if (bit(REP0 + state) === 0) {
      if (bit(REP0_LONG + 16 * state + column) === 0) {
        state = late === 0 ? 9 : 11;
        return 1;
      }
    } else {
      const which = bit(REP1 + state) === 0 ? 1 : 2 + bit(REP2 + state);
      last.unshift(...last.splice(which, 1));
    }
    state = late === 0 ? 8 : 11;
    return length(REP_LENGTH, column);
  };
  while (n < size) {
    const column = n & ((1 << pb) - 1);
    if (bit(MATCH + 16 * state + column) === 0) {
      literal();
      continue;
    }
    const bytes = match(column);
    if (last[0] >= n || n + bytes > size) throw new Error('a compressed part of the page is damaged');
    for (const end = n + bytes; n < end; n++) out[n] = out[n - last[0] - 1];
  }
  return out;
}
