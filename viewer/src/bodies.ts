// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// Poses and shapes of bodies, with one draw call per kind of shape.

import * as THREE from 'three';
import type { Mechanism, RunDocument, Shape } from './document';
import { css } from './dom';
import { cubic, type Piece } from './motion';
import { camOutline } from './outlines';
import { thingColour } from './palette';
import { planarForms, spatialForm, type Form } from './shapes';

const MANY = 200; // shapes of a kind

interface Instance {
  body: number;
  place: THREE.Matrix4;
  colour?: number[];
}

interface Group {
  mesh: THREE.InstancedMesh | THREE.LineSegments;
  instances: Instance[];
  behind: boolean; // shapes with contacts of bodies that have visuals
}

/** Of a body that nothing else shows (no shape, no element, no marker away from its centre): a disc or box of its mass and inertia. */
function inertiaShapes(mechanism: Mechanism): Shape[] {
  const away = mechanism.markers.filter((marker) => marker.point.some((x) => x !== 0));
  const slides = mechanism.joints.filter((joint) => joint.type === 'prismatic');
  const made = (mechanism.elements ?? []).filter((one) => one.type !== 'gear-pair');
  const covered = [...slides, ...made].flatMap((one) => one.between.map((i) => mechanism.markers[i])).filter((marker) => marker !== undefined);
  const surfaces = (mechanism.flexible ?? []).map(([body]) => ({ body }));
  const seen = new Set([...mechanism.shapes, ...away, ...covered, ...surfaces].map((one) => one.body));
  const plane = mechanism.dimension === 2;
  return mechanism.bodies.flatMap((body, i) => {
    const [x, y, z] = body.inertia.map((value) => value ?? 0);
    const mass = body.mass ?? 0;
    if (seen.has(i) || !(mass > 0) || !(x > 0)) return [];
    const sides = [y + z - x, z + x - y, x + y - z].map((sum) => Math.sqrt(Math.max(0, 6 * sum) / mass));
    const least = 0.02 * Math.max(...sides);
    const common = { name: body.name, body: i, position: [0, 0, 0], axes: [1, 0, 0, 0, 1, 0, 0, 0, 1], length: 0, hollow: false };
    return plane
      ? [{ ...common, kind: 'circle', radius: Math.sqrt((2 * x) / mass), size: [0, 0, 0] }]
      : [{ ...common, kind: 'box', radius: 0, size: sides.map((side) => Math.max(side, least)) }];
  });
}

export class Bodies {
  readonly root = new THREE.Group();
  readonly poses: THREE.Matrix4[]; // of bodies, now
  readonly middle: THREE.Vector3[]; // of bodies, now
  private readonly groups: Group[] = [];
  private readonly pose;
  private readonly width: number;
  private readonly matrix = new THREE.Matrix4();
  private readonly a = new THREE.Quaternion();
  private readonly b = new THREE.Quaternion();
  private readonly one = new THREE.Vector3(1, 1, 1);

  constructor(
    readonly run: RunDocument,
    readonly mechanism: Mechanism,
  ) {
    this.pose = run.get('pose');
    this.width = 7 * mechanism.bodies.filter((body) => body.pose >= 0).length;
    this.poses = mechanism.bodies.map(() => new THREE.Matrix4());
    this.middle = mechanism.bodies.map(() => new THREE.Vector3());
    const kinds = new Map<string, { form: Form; list: { shape: Shape; form: Form }[]; behind: boolean }>();
    const visuals = new Set(mechanism.shapes.filter((shape) => shape.colour !== undefined && shape.body >= 0).map((shape) => shape.body));
    for (const shape of [...mechanism.shapes, ...inertiaShapes(mechanism)]) {
      const form = mechanism.dimension === 2 ? planarForms(shape) : [spatialForm(run, shape)];
      const behind = shape.colour === undefined && visuals.has(shape.body);
      for (const one of form) {
        if (one === undefined) continue;
        const key = `${one.key}${behind ? ' behind' : ''}`;
        const kind = kinds.get(key) ?? { form: one, list: [], behind };
        kind.list.push({ shape, form: one });
        kinds.set(key, kind);
      }
    }
    for (const { form, list, behind } of kinds.values()) this.addGroup(form, list, behind);
    this.showContactShapes(false);
  }

  /** Whether bodies have visuals in front of shapes with contacts. */
  get layered(): boolean {
    return this.groups.some((group) => group.behind);
  }

  showContactShapes(on: boolean): void {
    for (const group of this.groups) if (group.behind) group.mesh.visible = on;
  }

  private colourOfInstance(one: Instance): THREE.Color {
    const rgb = one.colour;
    return rgb !== undefined && rgb[0] >= 0 ? new THREE.Color().setRGB(rgb[0], rgb[1], rgb[2], THREE.SRGBColorSpace) : this.colourOf(one.body);
  }

  colourOf(body: number): THREE.Color {
    const fixed = body < 0 || this.mechanism.bodies[body].kind === 'fixed';
    return new THREE.Color(fixed ? '#9aa4ae' : thingColour(body));
  }

  private addGroup(form: Form, list: { shape: Shape; form: Form }[], behind: boolean): void {
    const geometry = form.make(list.length > MANY);
    if (form.lines === true) {
      this.addLines(geometry, list, behind);
      return;
    }
    const hollow = list.some(({ shape }) => shape.hollow);
    const options = { side: hollow ? THREE.BackSide : THREE.DoubleSide };
    const material = form.flat
      ? new THREE.MeshBasicMaterial({ ...options, transparent: true, opacity: 0.55, depthWrite: false })
      : new THREE.MeshStandardMaterial({ ...options, roughness: 0.65, metalness: 0.05 });
    const mesh = new THREE.InstancedMesh(geometry, material, list.length);
    mesh.frustumCulled = false;
    mesh.castShadow = mesh.receiveShadow = !form.flat;
    const instances = list.map(({ shape, form: own }) => ({ body: shape.body, place: own.place, colour: shape.colour }));
    instances.forEach((one, i) => mesh.setColorAt(i, this.colourOfInstance(one)));
    this.groups.push({ mesh, instances, behind });
    this.root.add(mesh);
  }

  /** Lines have no instances in three: those of one geometry are drawn as one object of many copies. */
  private addLines(geometry: THREE.BufferGeometry, list: { shape: Shape; form: Form }[], behind: boolean): void {
    const points = geometry.getAttribute('position');
    const instances = list.map(({ shape, form }) => ({ body: shape.body, place: form.place }));
    const all = new THREE.BufferGeometry();
    all.setAttribute('position', new THREE.BufferAttribute(new Float32Array(3 * points.count * list.length), 3));
    all.userData = { points };
    const lines = new THREE.LineSegments(all, new THREE.LineBasicMaterial({ color: css('--outline') }));
    lines.frustumCulled = false;
    lines.renderOrder = 1;
    this.groups.push({ mesh: lines, instances, behind });
    this.root.add(lines);
  }

  private poseOf(body: number, at: Piece, position: THREE.Vector3, turn: THREE.Quaternion): void {
    const about = this.mechanism.bodies[body];
    const pose = about.pose;
    if (pose < 0 || this.pose === undefined) {
      position.fromArray(about.start);
      turn.fromArray(about.start, 3);
      return;
    }
    const values = this.pose;
    const i = at.frame * this.width + 7 * pose;
    turn.set(values[i + 3], values[i + 4], values[i + 5], values[i + 6]);
    position.set(values[i], values[i + 1], values[i + 2]);
    if (at.part === 0) return;
    const j = i + this.width;
    this.b.set(values[j + 3], values[j + 4], values[j + 5], values[j + 6]);
    turn.slerp(this.b, at.part);
    const v = this.run.get('v');
    const nv = this.run.head.v.length;
    for (let k = 0; k < 3; k++) {
      const known = v !== undefined && about.v >= 0 && k < this.mechanism.dimension;
      const va = known ? v[at.frame * nv + about.v + k] : NaN;
      const vb = known ? v[(at.frame + 1) * nv + about.v + k] : NaN;
      position.setComponent(k, cubic(values[i + k], values[j + k], va, vb, at.dt, at.part));
    }
  }

  update(at: Piece): void {
    for (let i = 0; i < this.poses.length; i++) {
      this.poseOf(i, at, this.middle[i], this.a);
      this.poses[i].compose(this.middle[i], this.a, this.one);
    }
    for (const group of this.groups) {
      if (group.mesh instanceof THREE.InstancedMesh) this.moveInstances(group.mesh, group.instances);
      else this.moveLines(group.mesh, group.instances);
    }
  }

  private matrixOf(one: Instance): THREE.Matrix4 {
    return one.body < 0 ? one.place : this.matrix.multiplyMatrices(this.poses[one.body], one.place);
  }

  private moveInstances(mesh: THREE.InstancedMesh, instances: Instance[]): void {
    instances.forEach((one, i) => mesh.setMatrixAt(i, this.matrixOf(one)));
    mesh.instanceMatrix.needsUpdate = true;
    mesh.boundingSphere = null;
  }

  private moveLines(lines: THREE.LineSegments, instances: Instance[]): void {
    const from = lines.geometry.userData.points as THREE.BufferAttribute;
    const to = lines.geometry.getAttribute('position') as THREE.BufferAttribute;
    const p = new THREE.Vector3();
    instances.forEach((one, i) => {
      const matrix = this.matrixOf(one);
      for (let k = 0; k < from.count; k++) {
        p.fromBufferAttribute(from, k).applyMatrix4(matrix);
        to.setXYZ(i * from.count + k, p.x, p.y, p.z);
      }
    });
    to.needsUpdate = true;
  }

  /** Bodies with a shape. */
  get shown(): number[] {
    return this.groups.flatMap((group) => group.instances.map((one) => one.body));
  }

  /** Index of the body hit by the ray; -1: none. */
  pick(ray: THREE.Raycaster): { body: number; distance: number } | undefined {
    const meshes = this.groups.filter((group) => group.mesh instanceof THREE.InstancedMesh && group.mesh.visible);
    const hits = ray.intersectObjects(meshes.map((group) => group.mesh), false);
    for (const hit of hits) {
      const group = meshes.find((one) => one.mesh === hit.object);
      const body = group?.instances[hit.instanceId ?? 0]?.body ?? -1;
      if (body >= 0) return { body, distance: hit.distance };
    }
    return undefined;
  }

  highlight(body: number): void {
    for (const { mesh, instances } of this.groups) {
      if (!(mesh instanceof THREE.InstancedMesh)) continue;
      instances.forEach((one, i) => {
        const colour = this.colourOfInstance(one);
        if (one.body === body && body >= 0) colour.lerp(new THREE.Color('#ffd84a'), 0.65);
        mesh.setColorAt(i, colour);
      });
      if (mesh.instanceColor !== null) mesh.instanceColor.needsUpdate = true;
    }
  }

  restyle(): void {
    for (const { mesh } of this.groups) {
      if (mesh instanceof THREE.LineSegments) (mesh.material as THREE.LineBasicMaterial).color.set(css('--outline'));
    }
  }

  /** Bounding box of the bodies over the run, without unbounded shapes. */
  extent(frames: number[]): THREE.Box3 {
    const box = new THREE.Box3();
    const part = new THREE.Box3();
    for (const frame of frames) {
      this.update({ frame, part: 0, dt: 0 });
      for (const { mesh, instances } of this.groups) {
        const points = (mesh.geometry.userData.points as THREE.BufferAttribute | undefined) ?? mesh.geometry.getAttribute('position');
        part.setFromBufferAttribute(points as THREE.BufferAttribute);
        for (const one of instances) box.union(part.clone().applyMatrix4(this.matrixOf(one)));
      }
      for (const marker of this.mechanism.markers) {
        const p = new THREE.Vector3().fromArray(marker.point);
        box.expandByPoint(marker.body < 0 ? p : p.applyMatrix4(this.poses[marker.body]));
      }
      for (const middle of this.middle) box.expandByPoint(middle);
      for (const [body, , , first, nodes] of this.mechanism.flexible ?? []) {
        part.setFromArray(this.run.need('flexible_points').subarray(3 * first, 3 * (first + nodes)));
        box.union(part.applyMatrix4(this.poses[body]));
      }
      for (const element of this.mechanism.elements ?? []) {
        const reach = Math.max(element.radius, ...element.radii.map(Math.abs), ...camOutline(element).map(([x, y]) => Math.hypot(x, y)));
        const marker = element.type === 'gear-pair' ? undefined : this.mechanism.markers[element.between[0]];
        if (marker === undefined || !(reach > 0) || element.type === 'stop' || element.type.includes('wheel') || element.type === 'rolling') continue;
        const p = new THREE.Vector3().fromArray(marker.point);
        if (marker.body >= 0) p.applyMatrix4(this.poses[marker.body]);
        box.union(new THREE.Box3().setFromCenterAndSize(p, new THREE.Vector3(2 * reach, 2 * reach, this.mechanism.dimension === 2 ? 0 : 1e-3 * reach)));
      }
    }
    return box;
  }
}
