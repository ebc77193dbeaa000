// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// Contacts: points, normals, forces as arrows, impulses as flashes, friction cones. Four draw calls for any number of them.

import * as THREE from 'three';
import type { Numbers, RunDocument } from './document';
import { lastAtMost } from './document';
import { Instances } from './instances';
import { smooth, type Piece } from './motion';

/** A contact at one instant, in the axes of the world. */
export interface Contact {
  key: string; // constant over frames
  name: string;
  point: THREE.Vector3;
  normal: THREE.Vector3;
  push: THREE.Vector3; // N
  kick: THREE.Vector3; // N s
  friction: number;
  gap: number;
  force: number[]; // normal first
  impulse: number[];
}

/** Points and forces of contacts, frame by frame. */
export interface Source {
  at(frame: number, piece: Piece): Contact[];
  unplaced(): string[]; // names of contacts that act somewhere and have no point
  most(): { force: number; impulse: number };
}

function largest(values: Numbers | undefined): number {
  let most = 0;
  for (let i = 0; values !== undefined && i + 2 < values.length; i += 3) {
    const size = Math.hypot(values[i], values[i + 1], values[i + 2]);
    if (size > most && Number.isFinite(size)) most = size;
  }
  return most;
}

function finite(v: THREE.Vector3): THREE.Vector3 {
  return Number.isFinite(v.x) ? v : v.set(0, 0, 0);
}

/** Contacts of bodies: rows of the document. */
export class RowSource implements Source {
  /** place: the point of a contact without one, of a limit that of its joint. */
  constructor(
    private readonly run: RunDocument,
    private readonly place: (name: string) => THREE.Vector3 | undefined,
  ) {}

  private moves(body: number): boolean {
    return body >= 0 && this.run.head.mechanism?.bodies[body]?.kind === 'free';
  }

  static exists(run: RunDocument): boolean {
    return run.get('row_start') !== undefined;
  }

  unplaced(): string[] {
    const { run } = this;
    const law = run.need('row_law');
    const names = new Set<string>();
    for (let i = 0; i < law.length; i++) {
      const acts = run.need('row_force')[3 * i] !== 0 || run.need('row_impulse')[3 * i] !== 0;
      if (acts && !Number.isFinite(run.need('row_point')[3 * i]) && this.place(run.head.contact_names[law[i]]) === undefined) names.add(run.head.contact_names[law[i]] ?? String(law[i]));
    }
    return [...names];
  }

  at(frame: number): Contact[] {
    const run = this.run;
    const start = run.need('row_start');
    const law = run.need('row_law');
    const bodies = run.need('row_bodies');
    const identity = run.need('row_identity');
    const list: Contact[] = [];
    const vector = (name: string, i: number): THREE.Vector3 => {
      const values = run.need(name);
      return new THREE.Vector3(values[3 * i], values[3 * i + 1], values[3 * i + 2]);
    };
    const triple = (name: string, i: number): number[] => Array.from(run.need(name).subarray(3 * i, 3 * i + 3));
    for (let i = start[frame]; i < start[frame + 1]; i++) {
      const known = vector('row_point', i);
      const point = Number.isFinite(known.x) ? known : this.place(run.head.contact_names[law[i]]);
      if (point === undefined) continue;
      // the force on the body is shown, not that on the ground
      const sign = this.moves(bodies[2 * i]) || !this.moves(bodies[2 * i + 1]) ? 1 : -1;
      list.push({
        key: `${identity[2 * i + 1]}:${identity[2 * i]}`,
        name: run.head.contact_names[law[i]] ?? '',
        point,
        normal: finite(vector('row_normal', i)).multiplyScalar(sign),
        push: finite(vector('row_push', i)).multiplyScalar(sign),
        kick: finite(vector('row_kick', i)).multiplyScalar(sign),
        friction: run.head.friction[law[i]] ?? 0,
        gap: run.need('row_gap')[i],
        force: triple('row_force', i),
        impulse: triple('row_impulse', i),
      });
    }
    return list;
  }

  most(): { force: number; impulse: number } {
    return { force: largest(this.run.get('row_push')), impulse: largest(this.run.get('row_kick')) };
  }
}

/** Contacts of a scene of formulas that its section `view` places. */
export class PlacedSource implements Source {
  private readonly items;
  private readonly width: number;

  constructor(private readonly run: RunDocument) {
    this.items = (run.head.view?.items ?? []).filter((item) => item.type === 'contact' && item.contact >= 0);
    this.width = run.count > 0 ? (run.get('view')?.length ?? 0) / run.count : 0;
  }

  unplaced(): string[] {
    const placed = new Set(this.items.map((item) => item.contact));
    return this.run.head.contact_names.filter((_, i) => !placed.has(i));
  }

  at(frame: number, piece: Piece): Contact[] {
    const run = this.run;
    const nc = run.head.contact_names.length;
    const force = run.get('force');
    const impulse = run.get('impulse');
    const gap = run.get('gap');
    const values = run.get('view');
    if (force === undefined || impulse === undefined || values === undefined) return [];
    const rates = run.need('view_rate');
    const dimension = run.dimension;
    return this.items.map((item) => {
      const vector = (k: number): THREE.Vector3 => {
        const first = item.first + k * dimension;
        const part = (c: number): number => (c < dimension ? smooth(values, rates, this.width, first + c, piece) : 0);
        return new THREE.Vector3(part(0), part(1), part(2));
      };
      const normal = vector(1).normalize();
      const tangent = vector(2);
      if (tangent.lengthSq() > 0) tangent.normalize();
      const second = new THREE.Vector3().crossVectors(normal, tangent);
      const row = frame * nc + item.contact;
      const of = (list: Numbers): number[] => Array.from(list.subarray(3 * row, 3 * row + 3));
      const world = (p: number[]): THREE.Vector3 =>
        new THREE.Vector3().addScaledVector(normal, p[0]).addScaledVector(tangent, p[1] || 0).addScaledVector(second, p[2] || 0);
      return {
        key: String(item.contact),
        name: run.head.contact_names[item.contact],
        point: vector(0),
        normal,
        push: world(of(force)),
        kick: world(of(impulse)),
        friction: run.head.friction[item.contact] ?? 0,
        gap: gap?.[row] ?? NaN,
        force: of(force),
        impulse: of(impulse),
      };
    });
  }

  most(): { force: number; impulse: number } {
    const used = new Set(this.items.map((item) => item.contact));
    const nc = this.run.head.contact_names.length;
    const of = (values: Numbers | undefined): number => {
      let most = 0;
      for (let i = 0; values !== undefined && 3 * i + 2 < values.length; i++) {
        if (!used.has(i % nc)) continue;
        const size = Math.hypot(values[3 * i], values[3 * i + 1] || 0, values[3 * i + 2] || 0);
        if (Number.isFinite(size)) most = Math.max(most, size);
      }
      return most;
    };
    return { force: of(this.run.get('force')), impulse: of(this.run.get('impulse')) };
  }
}

const FORCE = new THREE.Color('#d5472f');
const KICK = new THREE.Color('#e8b400');
const NORMAL = new THREE.Color('#2a9d78');
const CONE = new THREE.Color('#4a90d9');

export class Contacts {
  readonly root = new THREE.Group();
  showForces = true;
  showPoints = true;
  showNormals = false;
  showCones = false;
  scale = 1;
  flash = 0; // s of the run that an impulse stays visible
  now: Contact[] = [];
  readonly most: { force: number; impulse: number };
  private readonly shafts: Instances;
  private readonly tips: Instances;
  private readonly points: Instances;
  private readonly cones: Instances;
  private readonly impulseFrames: Int32Array;

  constructor(
    private readonly run: RunDocument,
    private readonly source: Source,
    private readonly size: number, // m, of the scene
  ) {
    this.most = source.most();
    const basic = (): THREE.MeshBasicMaterial => new THREE.MeshBasicMaterial({ transparent: true, depthTest: false });
    const make = (shape: THREE.BufferGeometry, material: THREE.Material, order: number): Instances => new Instances(this.root, shape, material, order);
    this.shafts = make(new THREE.CylinderGeometry(1, 1, 1, 8).translate(0, 0.5, 0), basic(), 11);
    this.tips = make(new THREE.ConeGeometry(1, 1, 12).translate(0, -0.5, 0), basic(), 11);
    this.points = make(new THREE.SphereGeometry(1, 10, 6), basic(), 10);
    const cone = new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.25, side: THREE.DoubleSide, depthWrite: false });
    this.cones = make(new THREE.ConeGeometry(1, 1, 24, 1, true).rotateX(Math.PI).translate(0, 0.5, 0), cone, 9);
    const kicks = run.get('row_start') !== undefined ? undefined : run.get('impulse');
    const frames: number[] = [];
    for (let k = 0; k < run.count; k++) {
      if (this.kicks(k, kicks)) frames.push(k);
    }
    this.impulseFrames = Int32Array.from(frames);
  }

  get unplaced(): string[] {
    return this.source.unplaced().map((name) => `contact ${name}`);
  }

  private kicks(frame: number, kicks: Numbers | undefined): boolean {
    const start = this.run.get('row_start');
    const nc = this.run.head.contact_names.length;
    const values = kicks ?? this.run.get('row_impulse');
    const from = kicks !== undefined ? frame * nc : start![frame];
    const to = kicks !== undefined ? from + nc : start![frame + 1];
    for (let i = from; values !== undefined && i < to; i++) {
      if (Math.abs(values[3 * i]) > 0) return true;
    }
    return false;
  }

  private arrow(base: THREE.Vector3, way: THREE.Vector3, length: number, colour: THREE.Color, thick: number): void {
    if (!(length > 0)) return;
    const u = way.clone().normalize();
    const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 1, 0), u);
    const r = 0.006 * this.size * thick;
    const head = Math.min(4.5 * r, 0.5 * length);
    const end = base.clone().addScaledVector(u, length);
    this.shafts.add(new THREE.Matrix4().compose(base, turn, new THREE.Vector3(r, length - head, r)), colour);
    this.tips.add(new THREE.Matrix4().compose(end, turn, new THREE.Vector3(2.4 * r, head, 2.4 * r)), colour);
  }

  private dot(at: THREE.Vector3, radius: number, colour: THREE.Color): void {
    this.points.add(new THREE.Matrix4().compose(at, new THREE.Quaternion(), new THREE.Vector3(radius, radius, radius)), colour);
  }

  private cone(contact: Contact): void {
    if (!(contact.friction > 0) || !(contact.force[0] > 0)) return;
    const height = this.length(contact.force[0]);
    const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 1, 0), contact.normal);
    const r = contact.friction * height;
    this.cones.add(new THREE.Matrix4().compose(contact.point, turn, new THREE.Vector3(r, height, r)), CONE);
  }

  /** Of an arrow: in proportion to the force; the largest of the run is a quarter of the scene. */
  length(force: number): number {
    return this.most.force > 0 ? (0.25 * this.size * this.scale * force) / this.most.force : 0;
  }

  update(at: Piece, time: number): void {
    for (const list of [this.shafts, this.tips, this.points, this.cones]) list.begin();
    const frame = at.part > 0 ? at.frame + 1 : at.frame;
    this.now = this.source.at(frame, at);
    for (const contact of this.now) {
      const push = contact.push.length();
      const acts = push > 1e-6 * this.most.force;
      if (this.showForces && acts) this.arrow(contact.point, contact.push, this.length(push), FORCE, 1);
      if (this.showPoints && (acts || Math.abs(contact.gap) < 1e-3 * this.size)) this.dot(contact.point, 0.009 * this.size, FORCE);
      if (this.showNormals) this.arrow(contact.point, contact.normal, 0.12 * this.size, NORMAL, 0.6);
      if (this.showCones) this.cone(contact);
    }
    if (this.showForces) this.flashes(at, time);
    for (const list of [this.shafts, this.tips, this.points, this.cones]) list.end();
  }

  /** Numbers of drawn arrows, points and cones. */
  get drawn(): { arrows: number; points: number; cones: number } {
    return { arrows: this.shafts.count, points: this.points.count, cones: this.cones.count };
  }

  /** Impulses of the frames just passed, and of the one that is shown. */
  private flashes(at: Piece, time: number): void {
    const t = this.run.t;
    const list = this.impulseFrames;
    if (list.length === 0) return;
    let i = lastAtMost(list, at.frame);
    for (; i >= 0; i--) {
      const frame = list[i];
      if (frame > at.frame) continue;
      const age = time - t[frame];
      if (frame !== at.frame && !(age <= this.flash)) break;
      const fade = this.flash > 0 ? Math.max(0, 1 - age / this.flash) : age === 0 ? 1 : 0;
      if (fade <= 0) continue;
      for (const contact of this.source.at(frame, { frame, part: 0, dt: 0 })) {
        const kick = contact.kick.length();
        if (!(kick > 0) || !(this.most.impulse > 0)) continue;
        const part = kick / this.most.impulse;
        this.arrow(contact.point, contact.kick, 0.3 * this.size * this.scale * part, KICK, 1.3);
        this.dot(contact.point, (0.01 + 0.03 * Math.sqrt(part) * fade) * this.size, KICK);
      }
    }
  }

  /** The contact nearest to a place on the screen. */
  nearest(project: (p: THREE.Vector3) => THREE.Vector2, x: number, y: number, within: number): Contact | undefined {
    let best: Contact | undefined;
    let least = within;
    for (const contact of this.now) {
      const p = project(contact.point);
      const distance = Math.hypot(p.x - x, p.y - y);
      if (distance < least) {
        best = contact;
        least = distance;
      }
    }
    return best;
  }
}
