// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// Instances of one shape, rebuilt for every frame, in one draw call. Their number is not limited.

import * as THREE from 'three';

const FIRST = 1024;

export class Instances {
  private mesh: THREE.InstancedMesh;
  private room = FIRST;

  constructor(
    private readonly root: THREE.Group,
    private readonly shape: THREE.BufferGeometry,
    private readonly material: THREE.Material,
    private readonly order: number,
  ) {
    this.mesh = this.make();
  }

  private make(): THREE.InstancedMesh {
    const mesh = new THREE.InstancedMesh(this.shape, this.material, this.room);
    mesh.count = 0;
    mesh.frustumCulled = false;
    mesh.renderOrder = this.order;
    mesh.setColorAt(0, new THREE.Color());
    this.root.add(mesh);
    return mesh;
  }

  private grow(): void {
    const old = this.mesh;
    this.room *= 2;
    this.mesh = this.make();
    this.mesh.count = old.count;
    this.mesh.instanceMatrix.array.set(old.instanceMatrix.array);
    this.mesh.instanceColor!.array.set(old.instanceColor!.array);
    this.root.remove(old);
    old.dispose();
  }

  get count(): number {
    return this.mesh.count;
  }

  begin(): void {
    this.mesh.count = 0;
  }

  add(place: THREE.Matrix4, colour: THREE.Color): void {
    if (this.mesh.count === this.room) this.grow();
    const i = this.mesh.count++;
    this.mesh.setMatrixAt(i, place);
    this.mesh.setColorAt(i, colour);
  }

  end(): void {
    this.mesh.instanceMatrix.needsUpdate = true;
    this.mesh.instanceColor!.needsUpdate = true;
  }
}
