// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// Geometry of shapes. Shapes of one kind share one geometry of unit size and are drawn in one call, so a pile of a thousand
// costs as much as one.

import * as THREE from 'three';
import { ConvexGeometry } from 'three/addons/geometries/ConvexGeometry.js';
import { RoundedBoxGeometry } from 'three/addons/geometries/RoundedBoxGeometry.js';
import type { RunDocument, Shape } from './document';

/** A geometry with its key and the pose of an instance in body axes. */
export interface Form {
  key: string;
  make: (many: boolean) => THREE.BufferGeometry; // many: hundreds of them, with fewer triangles each
  place: THREE.Matrix4;
  flat: boolean; // drawn without light
  lines?: boolean;
}

const ALONG_Z = new THREE.Matrix4().makeRotationX(Math.PI / 2); // y of three becomes z

function ownAxes(shape: Shape): THREE.Matrix4 {
  const a = shape.axes;
  const p = shape.position;
  return new THREE.Matrix4().set(
    a[0], a[1], a[2], p[0], a[3], a[4], a[5], p[1], a[6], a[7], a[8], p[2], 0, 0, 0, 1,
  );
}

function scaled(shape: Shape, x: number, y: number, z: number): THREE.Matrix4 {
  return ownAxes(shape).multiply(new THREE.Matrix4().makeScale(x, y, z));
}

function areaOf(points: number[]): THREE.BufferGeometry {
  const outline: THREE.Vector2[] = [];
  for (let i = 0; i < points.length; i += 2) outline.push(new THREE.Vector2(points[i], points[i + 1]));
  return new THREE.ShapeGeometry(new THREE.Shape(outline));
}

function lineOf(points: number[], closed: boolean): THREE.BufferGeometry {
  const list: THREE.Vector3[] = [];
  for (let i = 0; i + 3 < points.length; i += 2) {
    list.push(new THREE.Vector3(points[i], points[i + 1], 0), new THREE.Vector3(points[i + 2], points[i + 3], 0));
  }
  if (closed && points.length > 4) {
    const n = points.length;
    list.push(new THREE.Vector3(points[n - 2], points[n - 1], 0), new THREE.Vector3(points[0], points[1], 0));
  }
  return new THREE.BufferGeometry().setFromPoints(list);
}

/** Areas and lines of a planar shape. */
export function planarForms(shape: Shape): Form[] {
  if (shape.kind === 'circle') {
    const place = new THREE.Matrix4()
      .makeTranslation(shape.position[0], shape.position[1], 0)
      .multiply(new THREE.Matrix4().makeRotationZ(Math.atan2(shape.axes[3], shape.axes[0])))
      .multiply(new THREE.Matrix4().makeScale(shape.radius, shape.radius, 1));
    const ring = { key: 'ring', make: ringLines, place, flat: true, lines: true };
    const disc = { key: 'disc', make: () => new THREE.CircleGeometry(1, 64), place, flat: true };
    return shape.hollow ? [ring] : [disc, ring];
  }
  const forms: Form[] = [];
  for (const line of shape.lines ?? []) {
    const place = new THREE.Matrix4();
    const key = JSON.stringify(line.points);
    if (line.closed) forms.push({ key: `area${key}`, make: () => areaOf(line.points), place, flat: true });
    forms.push({
      key: `line${line.closed ? 'c' : 'o'}${key}`,
      make: () => lineOf(line.points, line.closed),
      place,
      flat: true,
      lines: true,
    });
  }
  return forms;
}

/** A circle of unit size with a mark that shows how it turns. */
function ringLines(): THREE.BufferGeometry {
  const points: THREE.Vector3[] = [];
  for (let i = 0; i < 64; i++) {
    for (const k of [i, i + 1]) {
      points.push(new THREE.Vector3(Math.cos((k * Math.PI) / 32), Math.sin((k * Math.PI) / 32), 0));
    }
  }
  points.push(new THREE.Vector3(0, 0, 0), new THREE.Vector3(1, 0, 0));
  return new THREE.BufferGeometry().setFromPoints(points);
}

function meshOf(run: RunDocument, shape: Shape): THREE.BufferGeometry {
  const [first, count, start, triangles] = shape.mesh!;
  const points = run.need('mesh_points');
  const geometry = new THREE.BufferGeometry();
  const position = new Float32Array(9 * triangles);
  const faces = run.need('mesh_triangles');
  for (let i = 0; i < 3 * triangles; i++) {
    const v = Math.min(count - 1, Math.max(0, faces[3 * start + i]));
    for (let k = 0; k < 3; k++) position[3 * i + k] = points[3 * (first + v) + k];
  }
  geometry.setAttribute('position', new THREE.BufferAttribute(position, 3));
  geometry.computeVertexNormals();
  return geometry;
}

function hullOf(run: RunDocument, shape: Shape): THREE.BufferGeometry {
  const [first, count] = shape.mesh!;
  const points = run.need('mesh_points');
  const corners: THREE.Vector3[] = [];
  const round = shape.radius > 0 ? new THREE.IcosahedronGeometry(shape.radius, 2).getAttribute('position') : undefined;
  for (let i = 0; i < count; i++) {
    const at = 3 * (first + i);
    const corner = new THREE.Vector3(points[at], points[at + 1], points[at + 2]);
    if (round === undefined) corners.push(corner);
    for (let k = 0; round !== undefined && k < round.count; k++) {
      corners.push(new THREE.Vector3().fromBufferAttribute(round, k).add(corner));
    }
  }
  return new ConvexGeometry(corners);
}

/** The surface of a shape in space; none for a half-space, which is unbounded. */
export function spatialForm(run: RunDocument, shape: Shape): Form | undefined {
  const r = shape.radius;
  const l = shape.length;
  const s = shape.size;
  const solid = { flat: false };
  switch (shape.kind) {
    case 'sphere':
      return { key: 'sphere', make: (many) => new THREE.SphereGeometry(1, many ? 16 : 40, many ? 10 : 24), place: scaled(shape, r, r, r), ...solid };
    case 'ellipsoid':
      return { key: 'sphere', make: (many) => new THREE.SphereGeometry(1, many ? 16 : 40, many ? 10 : 24), place: scaled(shape, s[0], s[1], s[2]), ...solid };
    case 'box':
      if (r > 0) {
        const key = `rounded${s.join()},${r}`;
        const make = (): THREE.BufferGeometry => new RoundedBoxGeometry(s[0] + 2 * r, s[1] + 2 * r, s[2] + 2 * r, 4, r);
        return { key, make, place: ownAxes(shape), ...solid };
      }
      return { key: 'box', make: () => new THREE.BoxGeometry(1, 1, 1), place: scaled(shape, s[0], s[1], s[2]), ...solid };
    case 'cylinder':
      return { key: 'cylinder', make: (many) => new THREE.CylinderGeometry(1, 1, 1, many ? 20 : 48).applyMatrix4(ALONG_Z), place: scaled(shape, r, r, l), ...solid };
    case 'cone':
      return {
        key: 'cone',
        make: () => new THREE.ConeGeometry(1, 1, 48).applyMatrix4(ALONG_Z).translate(0, 0, 0.5),
        place: scaled(shape, r, r, l),
        ...solid,
      };
    case 'capsule':
      return { key: `capsule${r},${l}`, make: (many) => new THREE.CapsuleGeometry(r, l, many ? 5 : 12, many ? 16 : 32).applyMatrix4(ALONG_Z), place: ownAxes(shape), ...solid };
    case 'torus':
      return { key: `torus${s[0]},${r}`, make: () => new THREE.TorusGeometry(s[0], r, 24, 64), place: ownAxes(shape), ...solid };
    case 'hull':
      return { key: `hull${hullKey(run, shape)}`, make: () => hullOf(run, shape), place: new THREE.Matrix4(), ...solid };
    case 'mesh':
    case 'heightfield':
      return { key: `mesh${shape.mesh!.join()}`, make: () => meshOf(run, shape), place: new THREE.Matrix4(), ...solid };
    default:
      return undefined;
  }
}

/** Hulls with the same corners share their geometry. */
function hullKey(run: RunDocument, shape: Shape): string {
  const [first, count] = shape.mesh!;
  return `${shape.radius}:${run.need('mesh_points').slice(3 * first, 3 * (first + count)).join()}`;
}
