// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// Columns of a run for curves: attitudes as angles, and which columns move.

import type { Label, Numbers } from './document';

export interface Series {
  label: string;
  values: ArrayLike<number | null>;
}

export function column(values: Numbers, width: number, i: number, count: number): Float64Array {
  const out = new Float64Array(count);
  for (let k = 0; k < count; k++) out[k] = values[k * width + i];
  return out;
}

/** Smallest and largest value. */
export function range(values: ArrayLike<number | null>): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (let k = 0; k < values.length; k++) {
    const value = values[k];
    if (value === null || Number.isNaN(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return [low, high];
}

/** Values of a series are constant when they vary by less than 1e-9 of themselves and of the largest variation beside them. */
export function moving(series: Series[]): boolean[] {
  const ranges = series.map((one) => range(one.values));
  const most = Math.max(0, ...ranges.map(([low, high]) => (high > low ? high - low : 0)));
  return ranges.map(([low, high]) => high - low > 1e-9 * Math.max(most, Math.abs(low), Math.abs(high)) && high - low > 1e-12);
}

/** Roll, pitch and yaw (about fixed x, y, z) without jumps, of the quaternions of bodies: NAME.qw to NAME.qz. */
export function attitudes(labels: Label[], values: Numbers | undefined, count: number): Series[] {
  if (values === undefined) return [];
  const out: Series[] = [];
  labels.forEach((label, first) => {
    const name = label.name.slice(0, -3);
    if (!label.name.endsWith('.qw') || labels[first + 3]?.name !== `${name}.qz`) return;
    const angles = ['roll', 'pitch', 'yaw'].map((angle) => ({ label: `${name}.${angle}`, values: new Float64Array(count) }));
    for (let k = 0; k < count; k++) {
      const [w, x, y, z] = [0, 1, 2, 3].map((i) => values[k * labels.length + first + i]);
      const now = [
        Math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)),
        Math.asin(Math.max(-1, Math.min(1, 2 * (w * y - z * x)))),
        Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)),
      ];
      angles.forEach((one, i) => {
        const turns = k > 0 ? Math.round((one.values[k - 1] - now[i]) / (2 * Math.PI)) : 0;
        one.values[k] = now[i] + 2 * Math.PI * turns;
      });
    }
    out.push(...angles);
  });
  return out;
}

export function isQuaternion(label: Label): boolean {
  return /\.q[wxyz]$/.test(label.name);
}
