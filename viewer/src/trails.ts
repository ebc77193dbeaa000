// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// Where things went: all their paths in one draw call. Pieces stand in the order of time, so that those up to a frame are
// the first ones.

import * as THREE from 'three';
import type { Bodies } from './bodies';
import type { Numbers, RunDocument } from './document';

const MOST = 60; // paths

interface Path {
  values: Numbers;
  width: number;
  column: number;
  dimension: number;
  colour: THREE.Color;
}

function pathsOf(run: RunDocument, bodies: Bodies | undefined): Path[] {
  const paths: Path[] = [];
  const pose = run.get('pose');
  const list = run.head.mechanism?.bodies ?? [];
  const width = 7 * list.filter((body) => body.pose >= 0).length;
  list.forEach((body, i) => {
    if (pose === undefined || bodies === undefined || body.pose < 0) return;
    paths.push({ values: pose, width, column: 7 * body.pose, dimension: 3, colour: bodies.colourOf(i) });
  });
  const view = run.head.view;
  const values = run.get('view');
  for (const item of view?.items ?? []) {
    if (view === undefined || values === undefined || !['point', 'circle', 'sphere', 'box'].includes(item.type)) continue;
    paths.push({ values, width: values.length / run.count, column: item.first, dimension: view.dimension, colour: new THREE.Color('#8a7fd0') });
  }
  return paths.slice(0, MOST);
}

export class Trails {
  readonly root = new THREE.Group();
  private line: THREE.LineSegments | undefined;
  private count = 0;

  make(run: RunDocument, bodies: Bodies | undefined): void {
    this.clear();
    const paths = pathsOf(run, bodies);
    this.count = paths.length;
    const points = new Float32Array(6 * paths.length * Math.max(0, run.count - 1));
    const colours = new Float32Array(points.length);
    let at = 0;
    for (let k = 0; k + 1 < run.count; k++) {
      for (const { values, width, column, dimension, colour } of paths) {
        for (const frame of [k, k + 1]) {
          for (let c = 0; c < 3; c++) points[at + c] = c < dimension ? values[frame * width + column + c] : 0;
          colour.toArray(colours, at);
          at += 3;
        }
      }
    }
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute('position', new THREE.BufferAttribute(points, 3));
    geometry.setAttribute('color', new THREE.BufferAttribute(colours, 3));
    this.line = new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({ vertexColors: true }));
    this.line.frustumCulled = false;
    this.line.renderOrder = 5;
    this.root.add(this.line);
  }

  clear(): void {
    if (this.line === undefined) return;
    this.root.remove(this.line);
    this.line.geometry.dispose();
    (this.line.material as THREE.Material).dispose();
    this.line = undefined;
  }

  show(frame: number): void {
    this.line?.geometry.setDrawRange(0, 2 * this.count * frame);
  }
}
