// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// Values between two frames. At a frame they are those of the recording, bit for bit; between them a cubic that has the
// recorded values and rates at both ends, or a straight line where these contradict each other, as over an impact inside.

import type { Numbers } from './document';

export interface Piece {
  frame: number;
  part: number;
  dt: number; // s, between the frames
}

export function between(values: Numbers, width: number, column: number, at: Piece): number {
  const a = values[at.frame * width + column];
  return at.part > 0 ? a + at.part * (values[(at.frame + 1) * width + column] - a) : a;
}

export function cubic(a: number, b: number, va: number, vb: number, dt: number, s: number): number {
  const straight = b - a;
  const mean = (0.5 * (va + vb)) * dt;
  const size = Math.max(Math.abs(va), Math.abs(vb)) * dt + Math.abs(straight);
  if (!(Math.abs(straight - mean) <= 0.1 * size)) return a + s * straight;
  const s2 = s * s;
  const s3 = s2 * s;
  return (
    (2 * s3 - 3 * s2 + 1) * a + (s3 - 2 * s2 + s) * dt * va + (3 * s2 - 2 * s3) * b + (s3 - s2) * dt * vb
  );
}

/** A column with its rate. */
export function smooth(values: Numbers, rates: Numbers, width: number, column: number, at: Piece): number {
  const i = at.frame * width + column;
  if (at.part === 0) return values[i];
  return cubic(values[i], values[i + width], rates[i], rates[i + width], at.dt, at.part);
}
