// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// Objects of the section `view` of a scene: points, lines, circles, spheres, boxes, springs and texts, placed by formulas.

import * as THREE from 'three';
import { Line2 } from 'three/addons/lines/Line2.js';
import { LineGeometry } from 'three/addons/lines/LineGeometry.js';
import { LineMaterial } from 'three/addons/lines/LineMaterial.js';
import type { Item, Numbers, RunDocument } from './document';
import { css } from './dom';
import { writeCoil } from './links';
import { smooth, type Piece } from './motion';
import { namedColour } from './palette';

interface Drawn {
  item: Item;
  move: (values: (column: number) => number) => void;
  where: () => number[]; // x, y, z, x ... of its places, as they stand in the scene graph
}

/** Position of an object of the scene graph. */
function stands(object: THREE.Object3D): number[] {
  object.updateWorldMatrix(true, false);
  return new THREE.Vector3().setFromMatrixPosition(object.matrixWorld).toArray();
}

export class Drawing {
  readonly root = new THREE.Group();
  readonly labels: { text: string; at: THREE.Vector3; element?: HTMLElement }[] = [];
  private readonly drawn: Drawn[] = [];
  private readonly lineMaterials: LineMaterial[] = [];
  private readonly outlines: THREE.LineBasicMaterial[] = [];
  private readonly values: Numbers | undefined;
  private readonly rates: Numbers | undefined;
  private readonly width: number;
  private readonly dimension: number;

  constructor(
    run: RunDocument,
    private readonly size: number,
  ) {
    this.values = run.get('view');
    this.rates = run.get('view_rate');
    this.width = (this.values?.length ?? 0) / run.count;
    this.dimension = run.head.view?.dimension ?? 2;
    (run.head.view?.items ?? []).forEach((item, i) => this.add(item, i));
  }

  static extent(run: RunDocument): THREE.Box3 {
    const box = new THREE.Box3();
    const view = run.head.view;
    const values = run.get('view');
    if (view === undefined || values === undefined) return box;
    const width = values.length / run.count;
    const n = view.dimension;
    for (const item of view.items) {
      for (let k = 0; k < run.count; k += Math.max(1, Math.floor(run.count / 500))) {
        const at = (c: number): number => values[k * width + item.first + c];
        const places = item.type === 'contact' ? 1 : item.points;
        let reach = 0;
        if (item.type === 'circle' || item.type === 'sphere') reach = Math.abs(at(n));
        if (item.type === 'box') reach = 0.5 * Math.hypot(at(n), at(n + 1), n === 3 ? at(n + 2) : 0);
        for (let p = 0; p < places; p++) {
          const point = new THREE.Vector3(at(p * n), at(p * n + 1), n === 3 ? at(p * n + 2) : 0);
          if (!Number.isFinite(point.length())) continue;
          box.expandByPoint(point.clone().addScalar(reach));
          box.expandByPoint(point.addScalar(-reach));
        }
      }
    }
    return box;
  }

  private vector(values: (column: number) => number, first: number): THREE.Vector3 {
    return new THREE.Vector3(values(first), values(first + 1), this.dimension === 3 ? values(first + 2) : 0);
  }

  private add(item: Item, i: number): void {
    const colour = namedColour(item.colour, i);
    switch (item.type) {
      case 'point':
        this.addRound(item, colour, 0.018 * this.size);
        break;
      case 'circle':
      case 'sphere':
        this.addRound(item, colour, undefined);
        break;
      case 'box':
        this.addBox(item, colour);
        break;
      case 'line':
        this.addLine(item, colour);
        break;
      case 'spring':
        this.addSpring(item);
        break;
      case 'text':
        this.addText(item);
        break;
      default:
        break;
    }
  }

  private material(colour: string, filled: boolean): THREE.Material {
    return this.dimension === 3
      ? new THREE.MeshStandardMaterial({ color: colour, roughness: 0.65 })
      : new THREE.MeshBasicMaterial({ color: colour, transparent: true, opacity: filled ? 0.55 : 0, depthWrite: false });
  }

  private outline(points: THREE.Vector3[]): THREE.LineSegments {
    const material = new THREE.LineBasicMaterial({ color: css('--outline') });
    this.outlines.push(material);
    const lines = new THREE.LineSegments(new THREE.BufferGeometry().setFromPoints(points), material);
    lines.renderOrder = 1;
    return lines;
  }

  private addRound(item: Item, colour: string, fixed: number | undefined): void {
    const flat = this.dimension === 2;
    const group = new THREE.Group();
    group.add(
      new THREE.Mesh(
        flat ? new THREE.CircleGeometry(1, 64) : new THREE.SphereGeometry(1, 32, 20),
        this.material(colour, item.filled),
      ),
    );
    if (flat) {
      const points: THREE.Vector3[] = [];
      for (let k = 0; k < 64; k++) {
        for (const m of [k, k + 1]) points.push(new THREE.Vector3(Math.cos((m * Math.PI) / 32), Math.sin((m * Math.PI) / 32), 0));
      }
      if (fixed === undefined && item.filled) points.push(new THREE.Vector3(0, 0, 0), new THREE.Vector3(1, 0, 0));
      group.add(this.outline(points));
    }
    this.root.add(group);
    const n = this.dimension;
    this.drawn.push({
      item,
      move: (values) => {
        group.position.copy(this.vector(values, 0));
        group.scale.setScalar(Math.max(1e-12, fixed ?? Math.abs(values(n))));
        group.rotation.z = flat && fixed === undefined ? values(n + 1) : 0;
      },
      where: () => stands(group),
    });
  }

  private addBox(item: Item, colour: string): void {
    const flat = this.dimension === 2;
    const group = new THREE.Group();
    group.add(new THREE.Mesh(flat ? new THREE.PlaneGeometry(1, 1) : new THREE.BoxGeometry(1, 1, 1), this.material(colour, item.filled)));
    if (flat) {
      const corners = [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]].map(([x, y]) => new THREE.Vector3(x, y, 0));
      group.add(this.outline(corners.flatMap((corner, k) => [corner, corners[(k + 1) % 4]])));
    }
    this.root.add(group);
    const n = this.dimension;
    this.drawn.push({
      item,
      move: (values) => {
        group.position.copy(this.vector(values, 0));
        group.scale.set(values(n) || 1e-12, values(n + 1) || 1e-12, flat ? 1 : values(n + 2) || 1e-12);
        group.rotation.z = values(2 * n);
      },
      where: () => stands(group),
    });
  }

  private addLine(item: Item, colour: string): void {
    const material = new LineMaterial({ color: item.colour === '' && item.ground ? css('--ground') : colour, linewidth: item.ground ? 2 : 3 });
    this.lineMaterials.push(material);
    const line = new Line2(new LineGeometry(), material);
    line.frustumCulled = false;
    line.renderOrder = 2;
    this.root.add(line);
    let hatch: THREE.LineSegments | undefined;
    if (item.ground && this.dimension === 2) {
      hatch = this.outline(new Array(2 * 41 * Math.max(1, item.points - 1)).fill(0).map(() => new THREE.Vector3()));
      hatch.frustumCulled = false;
      this.root.add(hatch);
    }
    let before = '';
    this.drawn.push({
      item,
      move: (values) => {
        const flat: number[] = [];
        for (let p = 0; p < item.points; p++) flat.push(...this.vector(values, p * this.dimension).toArray());
        const now = flat.join();
        if (now === before) return;
        before = now;
        line.geometry.dispose();
        line.geometry = new LineGeometry();
        line.geometry.setPositions(flat);
        if (hatch !== undefined) this.hatch(hatch, flat);
      },
      where: () => {
        const from = line.geometry.getAttribute('instanceStart');
        const to = line.geometry.getAttribute('instanceEnd');
        const points = [from.getX(0), from.getY(0), from.getZ(0)];
        for (let k = 0; k < to.count; k++) points.push(to.getX(k), to.getY(k), to.getZ(k));
        return points;
      },
    });
  }

  /** Hatching on the right of a line: fixed ground. */
  private hatch(lines: THREE.LineSegments, points: number[]): void {
    const position = lines.geometry.getAttribute('position') as THREE.BufferAttribute;
    let k = 0;
    for (let i = 0; i + 5 < points.length; i += 3) {
      const a = new THREE.Vector3(points[i], points[i + 1], 0);
      const way = new THREE.Vector3(points[i + 3], points[i + 4], 0).sub(a);
      const length = way.length();
      const u = way.clone().divideScalar(length || 1);
      const out = new THREE.Vector3(u.y, -u.x, 0).sub(u).multiplyScalar(0.02 * this.size);
      const strokes = Math.min(40, Math.max(2, Math.round(length / (0.03 * this.size))));
      for (let s = 0; s <= 40; s++) {
        const p = a.clone().addScaledVector(way, Math.min(1, s / strokes));
        position.setXYZ(k++, p.x, p.y, 0);
        p.add(out);
        position.setXYZ(k++, p.x, p.y, 0);
      }
    }
    position.needsUpdate = true;
  }

  private addSpring(item: Item): void {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute('position', new THREE.BufferAttribute(new Float32Array(3 * 121), 3));
    const material = new THREE.LineBasicMaterial({ color: css('--spring') });
    this.outlines.push(material);
    const line = new THREE.Line(geometry, material);
    line.frustumCulled = false;
    this.root.add(line);
    this.drawn.push({
      item,
      move: (values) =>
        writeCoil(line, this.vector(values, 0), this.vector(values, this.dimension), 0.025 * this.size, this.dimension === 2),
      where: () => {
        const points = geometry.getAttribute('position');
        return [0, points.count - 1].flatMap((k) => [points.getX(k), points.getY(k), points.getZ(k)]);
      },
    });
  }

  private addText(item: Item): void {
    const label = { text: item.text, at: new THREE.Vector3() };
    this.labels.push(label);
    this.drawn.push({ item, move: (values) => label.at.copy(this.vector(values, 0)), where: () => label.at.toArray() });
  }

  update(at: Piece): void {
    if (this.values === undefined || this.rates === undefined) return;
    const { values, rates, width } = this;
    for (const { item, move } of this.drawn) move((column) => smooth(values, rates, width, item.first + column, at));
  }

  /** Current positions of all drawn objects. */
  places(): { type: string; points: number[] }[] {
    return this.drawn.map(({ item, where }) => ({ type: item.type, points: where() }));
  }

  resize(width: number, height: number): void {
    for (const material of this.lineMaterials) material.resolution.set(width, height);
  }

  restyle(): void {
    for (const material of this.outlines) material.color.set(css('--outline'));
  }
}
