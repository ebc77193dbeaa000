// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// Machine elements: outlines in the plane of a marker, in space as plates of that outline. Clearances can be exaggerated.

import * as THREE from 'three';
import type { Bodies } from './bodies';
import { camOutline, circle, gearOutline, ratchetOutline, rectangle } from './outlines';
import type { Element, Mechanism } from './document';
import { css } from './dom';
import type { Links } from './links';

interface Part {
  element: Element;
  object: THREE.Object3D;
  move: () => void;
}

type Outline = [number, number][];

const STILL = '#9aa4ae';

export class Elements {
  readonly root = new THREE.Group();
  readonly slack: boolean; // some have a clearance
  private exaggeration = 1;
  private readonly parts: Part[] = [];
  private readonly lines: THREE.LineBasicMaterial[] = [];
  private readonly flat: boolean;
  private readonly a = new THREE.Matrix4();
  private readonly b = new THREE.Matrix4();

  constructor(
    private readonly mechanism: Mechanism,
    private readonly bodies: Bodies,
    private readonly links: Links,
    private readonly size: number, // m, of the scene
    private readonly frames: number[], // in which ranges of motion are measured
  ) {
    this.flat = mechanism.dimension === 2;
    const list = mechanism.elements ?? [];
    for (const element of list) {
      const before = this.parts.length;
      if (element.between.every((i) => i >= 0)) this.add(element);
      for (const part of this.parts.slice(before)) part.element = element;
    }
    this.slack = list.some((one) => one.clearance > 0);
    this.restyle();
  }

  /** Names of the elements that are drawn, and the bodies of their markers. */
  get drawn(): { names: Set<string>; bodies: number[] } {
    const elements = [...new Set(this.parts.map((part) => part.element))];
    const bodies = elements.flatMap((e) => (e.type === 'gear-pair' ? [] : e.between.map((i) => this.mechanism.markers[i].body)));
    return { names: new Set(elements.map((e) => e.name)), bodies };
  }

  set clearance(factor: number) {
    this.exaggeration = factor;
  }

  private add(e: Element): void {
    const [first, second] = e.between;
    const r = e.radius > 0 ? e.radius : 0;
    const dot = 0.008 * this.size;
    switch (e.type) {
      case 'journal':
        this.onMarker(e, first, (k) => circle(e.radius + k * e.clearance), { filled: false });
        this.onMarker(e, second, () => circle(r), { loose: first, spoke: true });
        if (r < 0.012 * this.size) this.onMarker(e, first, () => circle(0.016 * this.size), { filled: false });
        break;
      case 'guide':
        this.onMarker(e, second, () => rectangle(e.length, e.width, 0, 0), { loose: first });
        this.walls(e);
        break;
      case 'cam':
        this.onMarker(e, first, () => camOutline(e), { spoke: true });
        if (e.follower === 'flat') this.onMarker(e, second, () => rectangle(0.12 * this.size, 0.012 * this.size, 0, 0.006 * this.size));
        else this.onMarker(e, second, () => circle(e.follower === 'roller' ? r : dot), { spoke: e.follower === 'roller' });
        break;
      case 'ratchet':
        this.onMarker(e, first, () => ratchetOutline(e));
        this.onMarker(e, second, () => circle(r || dot));
        break;
      case 'gear-pair':
        this.gears(e);
        break;
      case 'rope':
        this.rope(e);
        break;
      default: // a point, disc or ball above a surface
        this.surface(e);
        this.onMarker(e, second, () => circle(r || dot), { spoke: r > 0, ball: e.type === 'rolling' || (e.type !== 'wheel' && e.type !== 'rolling-wheel') });
    }
  }

  private add3d(object: THREE.Object3D, move: () => void): void {
    this.root.add(object);
    this.parts.push({ element: undefined as unknown as Element, object, move });
  }

  private line(points: THREE.Vector3[]): THREE.LineSegments {
    const material = new THREE.LineBasicMaterial();
    this.lines.push(material);
    const lines = new THREE.LineSegments(new THREE.BufferGeometry().setFromPoints(points), material);
    lines.renderOrder = 2;
    lines.frustumCulled = false;
    return lines;
  }

  /** An outline in the plane of a marker; loose: its distance from that marker is drawn with the exaggeration. */
  private onMarker(
    e: Element, marker: number, outline: (k: number) => Outline,
    how: { filled?: boolean; loose?: number; spoke?: boolean; ball?: boolean } = {},
  ): void {
    const holder = new THREE.Group();
    const body = this.mechanism.markers[marker].body;
    const colour = body < 0 ? new THREE.Color(STILL) : this.bodies.colourOf(body);
    let made = 0;
    holder.matrixAutoUpdate = false;
    const make = (k: number): void => {
      made = k;
      holder.clear();
      const points = outline(k);
      if (points.length < 3) return;
      const edge = points.flatMap(([x, y], i) => {
        const [u, v] = points[(i + 1) % points.length];
        return [new THREE.Vector3(x, y, 0), new THREE.Vector3(u, v, 0)];
      });
      if (how.spoke === true) edge.push(new THREE.Vector3(), new THREE.Vector3(points[0][0], points[0][1], 0));
      if (this.flat || how.filled === false) holder.add(this.line(edge));
      if (how.filled === false) return;
      const shape = new THREE.Shape(points.map(([x, y]) => new THREE.Vector2(x, y)));
      if (this.flat) {
        const material = new THREE.MeshBasicMaterial({ color: colour, transparent: true, opacity: 0.55, depthWrite: false, side: THREE.DoubleSide });
        holder.add(new THREE.Mesh(new THREE.ShapeGeometry(shape), material));
      } else {
        const material = new THREE.MeshStandardMaterial({ color: colour, roughness: 0.6 });
        const depth = 0.03 * this.size;
        const geometry = how.ball === true ? new THREE.SphereGeometry(Math.hypot(...points[0]), 32, 20) : new THREE.ExtrudeGeometry(shape, { depth, bevelEnabled: false }).translate(0, 0, -0.5 * depth);
        holder.add(new THREE.Mesh(geometry, material));
      }
      this.colourLines();
    };
    make(1);
    this.add3d(holder, () => {
      if (made !== this.exaggeration && e.clearance > 0) make(this.exaggeration);
      this.links.frameOf(marker, this.a);
      if (how.loose !== undefined && this.exaggeration !== 1) {
        const from = new THREE.Vector3().setFromMatrixPosition(this.links.frameOf(how.loose, this.b));
        const way = new THREE.Vector3().setFromMatrixPosition(this.a).sub(from);
        if (e.type === 'guide') { // only across the walls
          const along = new THREE.Vector3().setFromMatrixColumn(this.b, 0);
          way.addScaledVector(along, -way.dot(along));
        }
        way.multiplyScalar(this.exaggeration - 1);
        this.a.premultiply(new THREE.Matrix4().makeTranslation(way));
      }
      holder.matrix.copy(this.a);
      holder.matrixWorldNeedsUpdate = true;
    });
  }

  /** Ranges of the second marker in the axes of the first, over the run: low x, high x, low y, high y. */
  private range(first: number, second: number): number[] {
    const out = [Infinity, -Infinity, Infinity, -Infinity];
    const p = new THREE.Vector3();
    for (const frame of this.frames) {
      this.bodies.update({ frame, part: 0, dt: 0 });
      p.setFromMatrixPosition(this.links.frameOf(second, this.b)).applyMatrix4(this.links.frameOf(first, this.a).invert());
      out[0] = Math.min(out[0], p.x);
      out[1] = Math.max(out[1], p.x);
      out[2] = Math.min(out[2], p.y);
      out[3] = Math.max(out[3], p.y);
    }
    return out;
  }

  private held(marker: number, object: THREE.Object3D): void {
    object.matrixAutoUpdate = false;
    this.add3d(object, () => {
      this.links.frameOf(marker, object.matrix);
      object.matrixWorldNeedsUpdate = true;
    });
  }

  /** Strokes below the line from x0 to x1 at a height; sign -1: above it. */
  private hatched(x0: number, x1: number, y: number, sign: number): THREE.Vector3[] {
    const step = Math.min(0.02 * this.size, (x1 - x0) / 6);
    const points = [new THREE.Vector3(x0, y, 0), new THREE.Vector3(x1, y, 0)];
    for (let x = x0; x <= x1 + 1e-9 * step; x += step) points.push(new THREE.Vector3(x, y, 0), new THREE.Vector3(x - 0.7 * step, y - sign * step, 0));
    return points;
  }

  private walls(e: Element): void {
    const [first, second] = e.between;
    const [low, high] = this.range(first, second);
    const x0 = low - 0.65 * e.length;
    const x1 = high + 0.65 * e.length;
    const holder = new THREE.Group();
    let made = 0;
    holder.matrixAutoUpdate = false;
    this.add3d(holder, () => {
      if (made !== this.exaggeration) {
        made = this.exaggeration;
        holder.clear();
        const y = 0.5 * e.width + made * e.clearance;
        holder.add(this.line([...this.hatched(x0, x1, -y, 1), ...this.hatched(x0, x1, y, -1)]));
        this.colourLines();
      }
      this.links.frameOf(first, holder.matrix);
      holder.matrixWorldNeedsUpdate = true;
    });
  }

  /** y = 0 of the first marker, in space z = 0. */
  private surface(e: Element): void {
    const [first, second] = e.between;
    const [x0, x1, y0, y1] = this.range(first, second);
    const rolls = e.type === 'wheel' || e.type.startsWith('rolling');
    const margin = Math.max(rolls ? 1.5 * e.radius : 0, 0.03 * this.size);
    const spread = (low: number, high: number): [number, number] => {
      const half = Math.min(0.5 * (high - low), this.size) + margin;
      return [0.5 * (low + high) - half, 0.5 * (low + high) + half];
    };
    const [a, b] = spread(x0, x1);
    if (this.flat) {
      this.held(first, this.line(this.hatched(a, b, 0, 1)));
      return;
    }
    const [c, d] = spread(y0, y1);
    const plate = new THREE.Mesh(
      new THREE.PlaneGeometry(b - a, d - c).translate(0.5 * (a + b), 0.5 * (c + d), 0),
      new THREE.MeshStandardMaterial({ color: STILL, side: THREE.DoubleSide, roughness: 1 }),
    );
    plate.receiveShadow = true;
    const holder = new THREE.Group();
    holder.add(plate);
    this.held(first, holder);
  }

  /** Straight when taut, else hanging by gravity with its length, as a parabola. */
  private rope(e: Element): void {
    const count = 25;
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute('position', new THREE.BufferAttribute(new Float32Array(3 * count), 3));
    const material = new THREE.LineBasicMaterial();
    this.lines.push(material);
    const line = new THREE.Line(geometry, material);
    line.frustumCulled = false;
    const g = new THREE.Vector3().fromArray([...this.mechanism.gravity, 0, 0]);
    const down = g.length() > 0 ? g.normalize() : new THREE.Vector3(0, this.flat ? -1 : 0, this.flat ? 0 : -1);
    this.add3d(line, () => {
      const a = new THREE.Vector3().setFromMatrixPosition(this.links.frameOf(e.between[0], this.a));
      const b = new THREE.Vector3().setFromMatrixPosition(this.links.frameOf(e.between[1], this.b));
      const d = a.distanceTo(b);
      const sag = Math.sqrt(Math.max(0, 0.375 * d * (e.length - d)) + (d < 0.5 * e.length ? 0.25 * (e.length - 2 * d) ** 2 : 0));
      for (let i = 0; i < count; i++) {
        const s = i / (count - 1);
        const p = a.clone().lerp(b, s).addScaledVector(down, 4 * sag * s * (1 - s));
        (geometry.getAttribute('position') as THREE.BufferAttribute).setXYZ(i, p.x, p.y, p.z);
      }
      geometry.getAttribute('position').needsUpdate = true;
    });
  }

  /** Wheels of both joints with teeth at their pitch circles. */
  private gears(e: Element): void {
    const joints = e.between.map((i) => this.mechanism.joints[i]);
    const markers = joints.map((joint) => joint.between[1]);
    const centres = markers.map((marker) => new THREE.Vector3().setFromMatrixPosition(this.links.frameOf(marker, new THREE.Matrix4())));
    const sum = Math.abs(e.radii[0] + e.radii[1]);
    const racks = joints.map((joint) => joint.type === 'prismatic');
    const scale = racks.some((is) => is) ? 1 : Math.max(1, centres[0].distanceTo(centres[1]) / (sum || 1));
    const tooth = (2 * Math.PI * Math.min(...e.radii.map((r, i) => (racks[i] ? Infinity : Math.abs(r)))) * scale) / 16;
    markers.forEach((marker, i) => {
      if (racks[i]) this.onMarker(e, marker, () => rectangle(0.4 * this.size, 0.5 * tooth, 0, 0));
      else this.onMarker(e, marker, () => gearOutline(Math.abs(e.radii[i]) * scale, tooth), { spoke: true, filled: e.radii[i] > 0 });
    });
  }

  update(): void {
    for (const part of this.parts) part.move();
  }

  private colourLines(): void {
    for (const material of this.lines) material.color.set(css('--outline'));
  }

  restyle(): void {
    this.colourLines();
  }
}
