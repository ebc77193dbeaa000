// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// The picture of a scene by formulas without a section `view`: the gaps of its contacts above a ground, without contacts
// its coordinates, each in proportion to its own range.

import type { Head, Item, Numbers } from './document';

const MOST = 12;
const HEIGHT = 2;

export interface Schematic {
  view: { dimension: number; items: Item[] };
  values: Float64Array;
  about: string;
}

/** Largest and smallest value of a column. */
function range(values: Numbers, width: number, column: number): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (let i = column; i < values.length; i += width) {
    if (!Number.isFinite(values[i])) continue;
    low = Math.min(low, values[i]);
    high = Math.max(high, values[i]);
  }
  return [low, high];
}

export function schematic(head: Head, get: (name: string) => Numbers | undefined, count: number): Schematic | undefined {
  const gaps = get('gap');
  const contacts = gaps !== undefined && head.contact_names.length > 0;
  const source = contacts ? gaps : get('q');
  const names = contacts ? head.contact_names : head.q.map((label) => label.name);
  if (source === undefined || names.length === 0 || source.length !== count * names.length) return undefined;
  const shown = Math.min(MOST, names.length);
  const items: Item[] = [];
  const columns: ((k: number) => number)[] = [];
  const item = (type: string, about: Partial<Item>, places: ((k: number) => number)[]): void => {
    items.push({ type, name: '', text: '', colour: '', first: columns.length, points: 1, contact: -1, ground: false, filled: true, ...about });
    columns.push(...places);
  };
  for (let i = 0; i < shown; i++) {
    const [low, high] = range(source, names.length, i);
    const base = contacts ? 0 : low;
    const unit = Math.max(high, contacts ? 0 : high) - base;
    const height = (k: number): number => (unit > 0 ? (HEIGHT * (source[k * names.length + i] - base)) / unit : 0);
    const x = (by: number) => (): number => i + by;
    item('line', { points: 2, ground: contacts, colour: contacts ? '' : 'grey' }, [x(-0.35), () => 0, x(0.35), () => 0]);
    item('point', { name: names[i] }, [x(0), height]);
    item('text', { text: names[i] }, [x(-0.3), () => -0.25]);
    if (contacts) item('contact', { contact: i }, [x(0), () => 0, () => 0, () => 1, () => 1, () => 0]);
  }
  const values = new Float64Array(count * columns.length);
  for (let k = 0; k < count; k++) columns.forEach((column, c) => (values[k * columns.length + c] = column(k)));
  const what = contacts ? 'the gaps of its contacts, each in proportion to its largest' : 'its coordinates, each over its own range';
  const rest = shown < names.length ? ` (the first ${shown} of ${names.length})` : '';
  const about = `This scene has no section "view". The picture shows ${what}${rest}. With a section "view" (docs/scene.md, View) it shows the machine.`;
  return { view: { dimension: 2, items }, values, about };
}
