// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// Connections of bodies: rods from a centre of mass to its joints, symbols of joints, springs. Symbols as in textbooks on
// mechanisms: a ring turns, a block slides, a ball turns every way.

import * as THREE from 'three';
import type { Bodies } from './bodies';
import type { Link, Mechanism } from './document';
import { css } from './dom';

interface Symbol {
  marker: number;
  object: THREE.Object3D;
}

interface Rod {
  from: number; // body: its centre of mass
  marker: number;
  mesh: THREE.Mesh;
}

interface Coil {
  ends: number[]; // markers
  line: THREE.Line;
  straight: boolean;
}

const COIL_POINTS = 121;
const MARKED: Record<string, string> = {
  revolute: 'turn',
  prismatic: 'slide',
  cylindrical: 'turn',
  screw: 'turn',
  spherical: 'ball',
  universal: 'ball',
  fixed: 'block',
  planar: 'slide',
  'point-on-line': 'ball',
  'point-in-plane': 'ball',
};

export class Links {
  readonly root = new THREE.Group();
  readonly symbols = new THREE.Group();
  private readonly marks: Symbol[] = [];
  private readonly rods: Rod[] = [];
  private readonly coils: Coil[] = [];
  private readonly flat: boolean;

  constructor(
    private readonly bodies: Bodies,
    private readonly mechanism: Mechanism,
    private readonly size: number, // of symbols, m
  ) {
    this.flat = mechanism.dimension === 2;
    this.root.add(this.symbols);
    this.addRods();
    for (const joint of mechanism.joints) this.addJoint(joint);
    for (const spring of mechanism.springs) {
      if (spring.type === 'linear') this.addCoil(spring.between, false);
    }
  }

  /** Bodies without shapes are drawn as rods from their centre of mass to the markers of joints and springs. */
  private addRods(): void {
    const shaped = new Set(this.mechanism.shapes.map((shape) => shape.body));
    const used = new Set<number>();
    for (const joint of this.mechanism.joints) {
      if (joint.type !== 'gear' && joint.type !== 'rack-and-pinion') joint.between.forEach((m) => used.add(m));
    }
    this.mechanism.springs.forEach((spring) => spring.between.forEach((m) => used.add(m)));
    const bare = (body: number): boolean => body >= 0 && !shaped.has(body);
    // markers that no joint uses may be those of elements: pins, stops
    this.mechanism.markers.forEach((marker, i) => {
      if (bare(marker.body)) this.addRod(marker.body, i, used.has(i));
    });
    this.mechanism.bodies.forEach((_, body) => {
      if (bare(body)) this.addMass(body);
    });
  }

  private addRod(body: number, marker: number, held: boolean): void {
    const r = (held ? 0.28 : 0.16) * this.size;
    const shape = this.flat ? new THREE.PlaneGeometry(2 * r, 1) : new THREE.CylinderGeometry(r, r, 1, 12);
    const colour = this.bodies.colourOf(body);
    const material = this.flat
      ? new THREE.MeshBasicMaterial({ color: colour, side: THREE.DoubleSide, transparent: true, opacity: 0.75 })
      : new THREE.MeshStandardMaterial({ color: colour, roughness: 0.6 });
    const mesh = new THREE.Mesh(shape, material);
    mesh.userData = { body };
    mesh.castShadow = !this.flat;
    this.rods.push({ from: body, marker, mesh });
    this.root.add(mesh);
  }

  private addMass(body: number): void {
    const r = 0.55 * this.size;
    const colour = this.bodies.colourOf(body);
    const mesh = this.flat
      ? new THREE.Mesh(new THREE.CircleGeometry(r, 32), new THREE.MeshBasicMaterial({ color: colour }))
      : new THREE.Mesh(new THREE.SphereGeometry(r, 24, 16), new THREE.MeshStandardMaterial({ color: colour }));
    mesh.userData = { body };
    mesh.renderOrder = 2;
    this.marks.push({ marker: -1 - body, object: mesh });
    this.root.add(mesh);
  }

  private addJoint(joint: Link): void {
    if (joint.type === 'distance') {
      this.addCoil(joint.between, true);
      return;
    }
    const kind = MARKED[joint.type];
    if (kind === undefined) return;
    const s = this.size;
    let object: THREE.Object3D;
    const dark = { color: css('--symbol') };
    if (this.flat) {
      const plane = (width: number, height: number): THREE.BufferGeometry => new THREE.PlaneGeometry(width, height);
      const symbol = (shape: THREE.BufferGeometry, colour: { color: THREE.ColorRepresentation }): THREE.Mesh => {
        const mesh = new THREE.Mesh(shape, new THREE.MeshBasicMaterial({ ...colour, side: THREE.DoubleSide }));
        mesh.renderOrder = 4;
        return mesh;
      };
      if (kind === 'slide') {
        // a block of the colour of its body between two rails
        const body = this.mechanism.markers[joint.between[1]].body;
        object = new THREE.Group().add(...[-1, 1].map((side) => symbol(plane(4.5 * s, 0.16 * s).translate(0, 0.68 * side * s, 0), dark)));
        const block = symbol(plane(1.9 * s, 1.1 * s), body >= 0 ? { color: this.bodies.colourOf(body) } : dark);
        if (body >= 0) block.userData = { body };
        object.add(block);
      } else {
        object = symbol(kind === 'turn' ? new THREE.RingGeometry(0.3 * s, 0.52 * s, 32) : plane(0.7 * s, 0.7 * s), dark);
      }
      const ground = joint.between.find((m) => this.mechanism.markers[m].body < 0);
      if (kind === 'turn' && ground !== undefined) this.addGround(ground);
    } else {
      const shape =
        kind === 'turn'
          ? new THREE.CylinderGeometry(0.45 * s, 0.45 * s, 1.5 * s, 24).rotateX(Math.PI / 2)
          : kind === 'slide'
            ? new THREE.BoxGeometry(0.8 * s, 0.8 * s, 1.8 * s)
            : kind === 'ball'
              ? new THREE.SphereGeometry(0.5 * s, 20, 14)
              : new THREE.BoxGeometry(0.8 * s, 0.8 * s, 0.8 * s);
      object = new THREE.Mesh(shape, new THREE.MeshStandardMaterial({ ...dark, roughness: 0.5 }));
    }
    this.marks.push({ marker: joint.between[kind === 'slide' ? 1 : 0], object });
    this.symbols.add(object);
  }

  /** A bearing that stands on the ground: two struts and hatching, upright. */
  private addGround(marker: number): void {
    const s = this.size;
    const [x, y] = this.mechanism.markers[marker].point;
    const lines = [[-0.25, -0.45, -0.8, -1.4], [0.25, -0.45, 0.8, -1.4], [-1.2, -1.4, 1.2, -1.4]];
    for (let i = 0; i < 6; i++) lines.push([-1.1 + 0.4 * i, -1.4, -1.35 + 0.4 * i, -1.75]);
    const points = lines.flatMap(([a, b, c, d]) => [x + a * s, y + b * s, 0, x + c * s, y + d * s, 0]);
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute('position', new THREE.BufferAttribute(new Float32Array(points), 3));
    const object = new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({ color: css('--ground') }));
    object.renderOrder = 1;
    this.symbols.add(object);
  }

  private addCoil(ends: number[], straight: boolean): void {
    const geometry = new THREE.BufferGeometry();
    const count = straight ? 2 : COIL_POINTS;
    geometry.setAttribute('position', new THREE.BufferAttribute(new Float32Array(3 * count), 3));
    const line = new THREE.Line(geometry, new THREE.LineBasicMaterial({ color: css('--spring') }));
    line.frustumCulled = false;
    line.renderOrder = 3;
    this.coils.push({ ends, line, straight });
    this.root.add(line);
  }

  pointOf(marker: number, out: THREE.Vector3): THREE.Vector3 {
    const about = this.mechanism.markers[marker];
    out.fromArray(about.point);
    return about.body < 0 ? out : out.applyMatrix4(this.bodies.poses[about.body]);
  }

  frameOf(marker: number, own = new THREE.Matrix4()): THREE.Matrix4 {
    const about = this.mechanism.markers[marker];
    const a = about.axes;
    const p = about.point;
    own.set(
      a[0], a[1], a[2], p[0], a[3], a[4], a[5], p[1], a[6], a[7], a[8], p[2], 0, 0, 0, 1,
    );
    return about.body < 0 ? own : own.premultiply(this.bodies.poses[about.body]);
  }

  update(): void {
    for (const { marker, object } of this.marks) {
      object.matrixAutoUpdate = false;
      object.matrix.copy(marker < 0 ? this.bodies.poses[-1 - marker] : this.frameOf(marker));
      object.matrixWorldNeedsUpdate = true;
    }
    const b = new THREE.Vector3();
    const up = new THREE.Vector3(0, 1, 0);
    for (const rod of this.rods) {
      const a = this.bodies.middle[rod.from];
      this.pointOf(rod.marker, b);
      const length = a.distanceTo(b);
      rod.mesh.visible = length > 0;
      if (length === 0) continue;
      rod.mesh.position.copy(a).add(b).multiplyScalar(0.5);
      rod.mesh.quaternion.setFromUnitVectors(up, b.clone().sub(a).divideScalar(length));
      rod.mesh.scale.set(1, length, 1);
    }
    for (const coil of this.coils) this.moveCoil(coil);
  }

  private moveCoil(coil: Coil): void {
    const a = this.pointOf(coil.ends[0], new THREE.Vector3());
    const b = this.pointOf(coil.ends[1], new THREE.Vector3());
    writeCoil(coil.line, a, b, coil.straight ? 0 : 0.5 * this.size, this.flat);
  }

  /** Bodies that are drawn as rods or masses. */
  get shown(): number[] {
    return [...this.rods.map((rod) => rod.from), ...this.marks.filter((mark) => mark.marker < 0).map((mark) => -1 - mark.marker)];
  }

  pick(ray: THREE.Raycaster): { body: number; distance: number } | undefined {
    const hits = ray.intersectObject(this.root, true).filter((hit) => 'body' in hit.object.userData);
    return hits.length > 0 ? { body: hits[0].object.userData.body as number, distance: hits[0].distance } : undefined;
  }

  restyle(): void {
    for (const { line } of this.coils) (line.material as THREE.LineBasicMaterial).color.set(css('--spring'));
    this.symbols.traverse((object) => {
      if (object instanceof THREE.LineSegments) (object.material as THREE.LineBasicMaterial).color.set(css('--ground'));
      else if (object instanceof THREE.Mesh && !('body' in object.userData)) (object.material as THREE.MeshBasicMaterial).color.set(css('--symbol'));
    });
  }
}

/** A spring between two points: a zigzag in the plane, a helix in space; straight for a radius of 0. */
export function writeCoil(line: THREE.Line, a: THREE.Vector3, b: THREE.Vector3, radius: number, flat: boolean): void {
  const position = line.geometry.getAttribute('position') as THREE.BufferAttribute;
  const way = b.clone().sub(a);
  const r = Math.min(radius, 0.2 * way.length());
  const u = way.clone().normalize();
  const v = flat ? new THREE.Vector3(-u.y, u.x, 0) : normalTo(u);
  const w = new THREE.Vector3().crossVectors(u, v);
  const n = position.count - 1;
  for (let i = 0; i <= n; i++) {
    const s = i / n;
    const inside = s > 0.08 && s < 0.92 ? r : 0;
    const angle = 2 * Math.PI * 10 * s;
    const x = flat ? (2 / Math.PI) * Math.asin(Math.sin(angle)) : Math.sin(angle);
    const y = flat ? 0 : Math.cos(angle);
    position.setXYZ(
      i,
      a.x + s * way.x + inside * (x * v.x + y * w.x),
      a.y + s * way.y + inside * (x * v.y + y * w.y),
      a.z + s * way.z + inside * (x * v.z + y * w.z),
    );
  }
  position.needsUpdate = true;
}

export function normalTo(u: THREE.Vector3): THREE.Vector3 {
  const least = Math.abs(u.x) < 0.6 ? new THREE.Vector3(1, 0, 0) : new THREE.Vector3(0, 1, 0);
  return least.addScaledVector(u, -least.dot(u)).normalize();
}
