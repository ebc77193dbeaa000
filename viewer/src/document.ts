// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// The document of a run (docs/viewer.md): a head in JSON and arrays of numbers behind it. Everything that is read is checked
// here, once; the rest of the viewer believes it.

import { schematic } from './schematic';

export type Numbers = Float64Array | Float32Array | Int32Array | Uint32Array;

export interface Label {
  name: string;
  unit: string;
}

export interface Body {
  name: string;
  kind: 'free' | 'fixed' | 'driven';
  mass: number | null;
  inertia: (number | null)[]; // kg m^2 in body axes: xx, yy, zz, xy, xz, yz; in the plane the first alone
  v: number; // first velocity; -1: none
  pose: number; // column of `pose`; -1: it does not move
  start: number[]; // position, quaternion x y z w
}

export interface Line {
  closed: boolean;
  points: number[]; // x, y, x, y ...
}

export interface Shape {
  name: string;
  kind: string;
  body: number; // -1: the world
  position: number[];
  axes: number[];
  radius: number;
  length: number;
  size: number[];
  hollow: boolean;
  lines?: Line[];
  mesh?: number[]; // first point, points, first triangle, triangles
  colour?: number[]; // of a shape without contacts: red, green, blue, 0 to 1; negative: that of the body
}

export interface Marker {
  name: string;
  body: number;
  point: number[];
  axes: number[];
}

export interface Link {
  name: string;
  type: string;
  between: number[];
}

export interface Element {
  name: string;
  type: string;
  between: number[]; // markers, of a gear pair joints; -1: not found
  follower: 'knife' | 'roller' | 'flat';
  radius: number;
  clearance: number;
  length: number;
  width: number;
  height: number;
  teeth: number;
  radii: number[];
  arcs?: number[][]; // centre x, y, radius, first direction
  points?: number[][]; // angle, radius
}

export interface Mechanism {
  dimension: number;
  gravity: number[];
  bodies: Body[];
  shapes: Shape[];
  markers: Marker[];
  joints: Link[];
  springs: Link[];
  elements?: Element[];
  flexible?: number[][]; // body, first modal coordinate, modes, first node, nodes, first triangle, triangles, first of its shapes
}

export interface Item {
  type: string;
  name: string;
  text: string;
  colour: string;
  first: number; // column of `view`
  points: number;
  contact: number;
  ground: boolean;
  filled: boolean;
}

export interface CertificateItem {
  name: string;
  says: string;
  unit: string;
  passed: boolean;
  checked: number;
  failures: number;
  value: number | null;
  limit: number | null;
  t: number | null;
}

export interface Certificate {
  passed: boolean;
  complete: boolean;
  span: number;
  followed: number;
  unfollowed: string;
  items: CertificateItem[];
}

export interface Head {
  format: string;
  version: number;
  name: string;
  scheme: string;
  options: string;
  status: string;
  accuracy: string;
  saltus: string;
  scene: string;
  description: string;
  explanation: string;
  answers: string;
  steps: number;
  recorded: number;
  shown: number;
  events_shown: boolean;
  q: Label[];
  v: Label[];
  outputs: Label[];
  joint_names: string[];
  event_names: string[];
  event_kinds: string[];
  parameters?: { name: string; unit: string; text: string; value: number | null }[];
  contact_names: string[];
  friction: (number | null)[];
  certificate?: Certificate;
  measured?: Label[]; // columns of `measured`, each of the length of `measured_t`
  mechanism?: Mechanism;
  view?: { dimension: number; items: Item[] };
}

interface Place {
  type: string;
  offset: number;
  shape: number[];
}

const MAGIC = 'SALTUSV1';

function fail(what: string): never {
  throw new Error(`this is no document of a run: ${what}`);
}

function array(bytes: ArrayBuffer, base: number, name: string, place: Place): Numbers {
  const size = place.type === 'f64' ? 8 : 4;
  const good =
    ['f64', 'f32', 'i32', 'u32'].includes(place.type) &&
    Array.isArray(place.shape) &&
    place.shape.length > 0 &&
    place.shape.every((n) => Number.isSafeInteger(n) && n >= 0) &&
    Number.isSafeInteger(place.offset) &&
    place.offset >= 0 &&
    place.offset % 8 === 0;
  if (!good) fail(`array ${name} is described wrongly`);
  const count = place.shape.reduce((a, b) => a * b, 1);
  const from = base + place.offset;
  if (from + count * size > bytes.byteLength) fail(`array ${name} is cut off`);
  switch (place.type) {
    case 'f64':
      return new Float64Array(bytes, from, count);
    case 'f32':
      return new Float32Array(bytes, from, count);
    case 'i32':
      return new Int32Array(bytes, from, count);
    default:
      return new Uint32Array(bytes, from, count);
  }
}

export class RunDocument {
  readonly head: Head;
  readonly count: number; // frames
  readonly schematic: string = ''; // what the picture shows instead of the section `view`
  readonly t: Numbers;
  private readonly arrays = new Map<string, Numbers>();

  constructor(bytes: ArrayBuffer) {
    const first = new Uint8Array(bytes, 0, Math.min(8, bytes.byteLength));
    if (String.fromCharCode(...first) !== MAGIC || bytes.byteLength < 16) fail('it begins otherwise');
    const length = Number(new DataView(bytes).getBigUint64(8, true));
    if (!Number.isSafeInteger(length) || length % 8 !== 0 || 16 + length > bytes.byteLength) {
      fail('its head is cut off');
    }
    const text = new TextDecoder().decode(new Uint8Array(bytes, 16, length));
    const head = JSON.parse(text) as Head & { arrays: Record<string, Place> };
    if (head.format !== 'saltus-view' || head.version !== 1) fail('another format or version');
    for (const [name, place] of Object.entries(head.arrays)) {
      this.arrays.set(name, array(bytes, 16 + length, name, place));
    }
    this.head = head;
    this.t = this.need('t');
    this.count = this.t.length;
    if (this.count < 1) fail('it has no states');
    if (head.mechanism === undefined && head.view === undefined) {
      const made = schematic(head, (name) => this.get(name), this.count);
      if (made === undefined) return;
      head.view = made.view;
      this.schematic = made.about;
      this.arrays.set('view', made.values);
      this.arrays.set('view_rate', new Float64Array(made.values.length).fill(NaN));
    }
  }

  /** Takes the values of another document of the same scene, in place where their number is the same. */
  take(other: RunDocument): void {
    for (const [name, values] of other.arrays) {
      const own = this.arrays.get(name);
      if (own !== undefined && own.length === values.length) own.set(values);
      else this.arrays.set(name, values);
    }
  }

  get(name: string): Numbers | undefined {
    return this.arrays.get(name);
  }

  need(name: string): Numbers {
    return this.arrays.get(name) ?? fail(`array ${name} is missing`);
  }

  get dimension(): number {
    return this.head.mechanism?.dimension ?? this.head.view?.dimension ?? 2;
  }

  /** Name of the contact or of the scene's own event that event i belongs to. */
  eventName(i: number): string {
    const kind = this.eventKind(i);
    const names = kind === 'rise' || kind === 'fall' ? this.head.event_names : this.head.contact_names;
    const place = this.need('event_contact')[i];
    return names[place] ?? String(place);
  }

  eventKind(i: number): string {
    return this.head.event_kinds[this.need('event_kind')[i]] ?? '';
  }
}

/** The last index of ascending numbers with value <= x; 0 if there is none. */
export function lastAtMost(values: Numbers, x: number): number {
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (values[middle] <= x) low = middle;
    else high = middle - 1;
  }
  return low;
}

export function fromBase64(text: string): ArrayBuffer {
  const native = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> }).fromBase64;
  if (native !== undefined) return native.call(Uint8Array, text).buffer;
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes.buffer;
}
