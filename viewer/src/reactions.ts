// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// Forces of joints as arrows: that on the body of the second marker, at this marker. Gears and racks, whose forces act along
// two coordinates, have none.

import * as THREE from 'three';
import type { Mechanism, Numbers, RunDocument } from './document';
import { Instances } from './instances';
import type { Links } from './links';
import type { Piece } from './motion';

const COLOUR = new THREE.Color('#8a5cc8');
const WITHOUT = new Set(['gear', 'rack-and-pinion']);

export class Reactions {
  readonly root = new THREE.Group();
  readonly most: number; // N
  show = false;
  scale = 1;
  private readonly shafts: Instances;
  private readonly tips: Instances;
  private readonly joints: number[];

  constructor(
    private readonly loads: Numbers, // [states x joints x 3] in the axes of the first marker
    private readonly mechanism: Mechanism,
    private readonly links: Links,
    private readonly size: number,
  ) {
    const material = (): THREE.Material => new THREE.MeshBasicMaterial({ transparent: true, depthTest: false });
    this.shafts = new Instances(this.root, new THREE.CylinderGeometry(1, 1, 1, 8).translate(0, 0.5, 0), material(), 11);
    this.tips = new Instances(this.root, new THREE.ConeGeometry(1, 1, 12).translate(0, -0.5, 0), material(), 11);
    this.joints = mechanism.joints.map((_, i) => i).filter((i) => !WITHOUT.has(mechanism.joints[i].type));
    let most = 0;
    for (let k = 0; k < loads.length; k++) {
      const joint = Math.floor(k / 3) % mechanism.joints.length;
      if (Number.isFinite(loads[k]) && !WITHOUT.has(mechanism.joints[joint].type)) most = Math.max(most, Math.abs(loads[k]));
    }
    this.most = most;
  }

  static of(run: RunDocument, mechanism: Mechanism, links: Links, size: number): Reactions | undefined {
    const loads = run.get('joint_load');
    const made = loads === undefined ? undefined : new Reactions(loads, mechanism, links, size);
    return made !== undefined && made.most > 0 ? made : undefined;
  }

  get drawn(): number {
    return this.shafts.count;
  }

  /** Force of a joint in world axes at a frame. */
  force(joint: number, frame: number): THREE.Vector3 {
    const first = 3 * (frame * this.mechanism.joints.length + joint);
    const axes = new THREE.Matrix3().setFromMatrix4(this.links.frameOf(this.mechanism.joints[joint].between[0]));
    return new THREE.Vector3(this.loads[first], this.loads[first + 1], this.loads[first + 2]).applyMatrix3(axes);
  }

  update(at: Piece): void {
    this.shafts.begin();
    this.tips.begin();
    const frame = at.part > 0 ? at.frame + 1 : at.frame;
    const base = new THREE.Vector3();
    for (const joint of this.show ? this.joints : []) {
      const force = this.force(joint, frame);
      const length = (0.25 * this.size * this.scale * force.length()) / this.most;
      if (!(length > 1e-4 * this.size)) continue;
      this.links.pointOf(this.mechanism.joints[joint].between[1], base);
      const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 1, 0), force.clone().normalize());
      const r = 0.006 * this.size;
      const head = Math.min(4.5 * r, 0.5 * length);
      this.shafts.add(new THREE.Matrix4().compose(base, turn, new THREE.Vector3(r, length - head, r)), COLOUR);
      this.tips.add(new THREE.Matrix4().compose(base.clone().addScaledVector(force.normalize(), length), turn, new THREE.Vector3(2.4 * r, head, 2.4 * r)), COLOUR);
    }
    this.shafts.end();
    this.tips.end();
  }
}
