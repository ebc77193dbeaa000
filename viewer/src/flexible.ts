// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// Surfaces of flexible bodies: nodes s + f V q in the axes of their body, coloured by the displacement |V q|.

import * as THREE from 'three';
import type { Bodies } from './bodies';
import type { Numbers, RunDocument } from './document';
import { between, type Piece } from './motion';

interface Surface {
  body: number;
  eta: number; // column of the first modal coordinate
  modes: number;
  nodes: number;
  points: Numbers; // of the undeformed body
  shapes: Numbers; // [nodes x 3 x modes]
  mesh: THREE.Mesh;
}

export class Flexible {
  readonly root = new THREE.Group();
  readonly most: number; // m, largest displacement over the run
  factor = 1; // of displacements
  private readonly surfaces: Surface[] = [];
  private readonly colour = new THREE.Color();

  constructor(
    readonly run: RunDocument,
    readonly bodies: Bodies,
    frames: number[],
  ) {
    for (const [body, eta, modes, first, nodes, face, faces, shape] of run.head.mechanism?.flexible ?? []) {
      const points = run.need('flexible_points').subarray(3 * first, 3 * (first + nodes));
      const shapes = run.need('flexible_shapes').subarray(shape, shape + 3 * nodes * modes);
      const triangles = run.need('flexible_triangles').subarray(3 * face, 3 * (face + faces));
      if (triangles.some((node) => !(node >= 0 && node < nodes))) throw new Error('a surface has nodes that are not there');
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute('position', new THREE.BufferAttribute(new Float32Array(3 * nodes), 3));
      geometry.setAttribute('color', new THREE.BufferAttribute(new Float32Array(3 * nodes), 3));
      geometry.setIndex(Array.from(triangles));
      const material = new THREE.MeshStandardMaterial({ vertexColors: true, roughness: 0.65, side: THREE.DoubleSide, flatShading: true });
      const mesh = new THREE.Mesh(geometry, material);
      mesh.frustumCulled = false;
      mesh.castShadow = mesh.receiveShadow = true;
      mesh.matrixAutoUpdate = false;
      this.surfaces.push({ body, eta, modes, nodes, points, shapes, mesh });
      this.root.add(mesh);
    }
    this.most = 0;
    for (const frame of frames) {
      for (const surface of this.surfaces) this.most = Math.max(this.most, this.deform(surface, { frame, part: 0, dt: 0 }, 1));
    }
  }

  get shown(): number[] {
    return this.surfaces.map((surface) => surface.body);
  }

  /** Moves the nodes; the largest displacement. */
  private deform(surface: Surface, at: Piece, most: number): number {
    const { eta, modes, nodes, points, shapes, mesh } = surface;
    const q: number[] = [];
    const width = this.run.head.q.length;
    const values = this.run.get('q');
    for (let k = 0; k < modes && values !== undefined; k++) {
      q.push(between(values, width, eta + k, at));
    }
    const position = mesh.geometry.getAttribute('position') as THREE.BufferAttribute;
    const colours = mesh.geometry.getAttribute('color') as THREE.BufferAttribute;
    let largest = 0;
    for (let n = 0; n < nodes; n++) {
      const u = [0, 0, 0];
      for (let c = 0; c < 3; c++) {
        const from = (3 * n + c) * modes;
        for (let k = 0; k < q.length; k++) u[c] += shapes[from + k] * q[k];
      }
      const size = Math.hypot(...u);
      largest = Math.max(largest, size);
      position.setXYZ(n, points[3 * n] + this.factor * u[0], points[3 * n + 1] + this.factor * u[1], points[3 * n + 2] + this.factor * u[2]);
      this.colour.setHSL(0.62 * (1 - Math.min(1, size / most)), 0.75, 0.5);
      colours.setXYZ(n, this.colour.r, this.colour.g, this.colour.b);
    }
    position.needsUpdate = colours.needsUpdate = true;
    return largest;
  }

  update(at: Piece): void {
    for (const surface of this.surfaces) {
      this.deform(surface, at, this.most > 0 ? this.most : 1);
      surface.mesh.matrix.copy(this.bodies.poses[surface.body]);
      surface.mesh.matrixWorldNeedsUpdate = true;
    }
  }

  /** Index of the body hit by the ray. */
  pick(ray: THREE.Raycaster): { body: number; distance: number } | undefined {
    for (const { mesh } of this.surfaces) mesh.geometry.computeBoundingSphere();
    const hit = ray.intersectObject(this.root, true)[0];
    return hit === undefined ? undefined : { body: this.surfaces.find((one) => one.mesh === hit.object)!.body, distance: hit.distance };
  }
}
