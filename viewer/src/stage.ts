// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// The picture: camera, light, ground, and everything that moves. Planar scenes are drawn flat, with an orthographic camera.

import * as THREE from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { Bodies } from './bodies';
import type { Clock } from './clock';
import { Contacts, PlacedSource, RowSource, type Contact, type Source } from './contacts';
import type { RunDocument } from './document';
import { css, el } from './dom';
import { Drawing } from './drawing';
import { Elements } from './elements';
import { Flexible } from './flexible';
import { Links } from './links';
import type { Piece } from './motion';
import { Reactions } from './reactions';
import { Trails } from './trails';

/** Browsers allow few WebGL contexts, and making one takes time: viewers of one page use one after the other. */
let idle: THREE.WebGLRenderer | undefined;

function takeRenderer(): THREE.WebGLRenderer {
  const renderer = idle ?? new THREE.WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
  idle = undefined;
  return renderer;
}

export class Stage {
  readonly canvas: HTMLCanvasElement;
  readonly bodies?: Bodies;
  readonly links?: Links;
  readonly elements?: Elements;
  readonly reactions?: Reactions;
  readonly drawing?: Drawing;
  readonly flexible?: Flexible;
  readonly contacts?: Contacts;
  readonly flat: boolean;
  readonly size: number; // m, of the visible objects
  follow = -1;
  showTrails = false;
  readonly renderer: THREE.WebGLRenderer;
  private readonly scene = new THREE.Scene();
  private readonly camera: THREE.PerspectiveCamera | THREE.OrthographicCamera;
  private readonly controls: OrbitControls;
  private readonly middle = new THREE.Vector3();
  private readonly box: THREE.Box3;
  private readonly trails = new Trails();
  private readonly grounds: THREE.Object3D[] = [];
  private readonly followed = new THREE.Vector3();
  private labels: HTMLElement;
  private readonly sizes: ResizeObserver;
  private width = 1;
  private height = 1;
  private stale = true;
  onStale: () => void = () => undefined;

  constructor(
    readonly run: RunDocument,
    readonly clock: Clock,
    readonly host: HTMLElement,
  ) {
    this.renderer = takeRenderer();
    this.renderer.setPixelRatio(Math.min(2, window.devicePixelRatio));
    this.canvas = this.renderer.domElement;
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute('role', 'img');
    this.labels = el('div', { class: 'labels', 'aria-hidden': 'true' });
    host.append(this.canvas, this.labels);
    this.flat = run.dimension === 2;
    const mechanism = run.head.mechanism;
    if (mechanism !== undefined) {
      this.bodies = new Bodies(run, mechanism);
      this.scene.add(this.bodies.root);
    }
    this.box = this.extent();
    this.size = Math.max(1e-9, this.box.getSize(new THREE.Vector3()).length() / Math.SQRT2);
    this.box.getCenter(this.middle);
    if (mechanism !== undefined && this.bodies !== undefined) {
      this.bodies.update({ frame: 0, part: 0, dt: 0 });
      this.links = new Links(this.bodies, mechanism, 0.035 * this.size);
      this.elements = new Elements(mechanism, this.bodies, this.links, this.size, this.samples());
      this.scene.add(this.links.root, this.elements.root);
      this.reactions = Reactions.of(run, mechanism, this.links, this.size);
      if (this.reactions !== undefined) this.scene.add(this.reactions.root);
      if ((mechanism.flexible ?? []).length > 0) {
        this.flexible = new Flexible(run, this.bodies, this.samples());
        this.scene.add(this.flexible.root);
      }
      this.addGrounds();
    }
    if (run.head.view !== undefined) {
      this.drawing = new Drawing(run, this.size);
      this.scene.add(this.drawing.root);
      for (const label of this.drawing.labels) {
        label.element = el('span', {}, label.text);
        this.labels.append(label.element);
      }
    }
    const source = this.source();
    if (source !== undefined) {
      this.contacts = new Contacts(run, source, this.size);
      this.scene.add(this.contacts.root);
    }
    this.scene.add(this.trails.root);
    this.camera = this.makeCamera();
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.enableRotate = !this.flat;
    this.controls.screenSpacePanning = true;
    if (this.flat) this.controls.mouseButtons.LEFT = THREE.MOUSE.PAN;
    this.controls.addEventListener('change', () => this.invalidate());
    this.addLight();
    this.restyle();
    this.reset();
    clock.onChange(() => this.invalidate());
    this.sizes = new ResizeObserver(() => this.resize());
    this.sizes.observe(host);
    this.resize();
  }

  destroy(): void {
    this.sizes.disconnect();
    this.controls.dispose();
    this.scene.traverse((object) => {
      const { geometry, material } = object as Partial<THREE.Mesh>;
      geometry?.dispose();
      for (const one of material === undefined ? [] : [material].flat()) one.dispose();
      if (object instanceof THREE.InstancedMesh) object.dispose();
      if (object instanceof THREE.DirectionalLight) object.dispose();
    });
    this.canvas.remove();
    idle = this.renderer;
  }

  private source(): Source | undefined {
    if (RowSource.exists(this.run)) return new RowSource(this.run, (name) => this.limitPlace(name));
    return this.run.head.view !== undefined && this.run.get('force') !== undefined ? new PlacedSource(this.run) : undefined;
  }

  /** The origin of the joint that a contact NAME.lower or NAME.upper limits. */
  private limitPlace(name: string): THREE.Vector3 | undefined {
    const joint = this.run.head.mechanism?.joints.find((one) => name === `${one.name}.lower` || name === `${one.name}.upper`);
    return joint !== undefined && this.links !== undefined ? this.links.pointOf(joint.between[0], new THREE.Vector3()) : undefined;
  }

  /** Frames in which extents are measured. */
  private samples(): number[] {
    const frames: number[] = [];
    for (let i = 0; i <= 60; i++) frames.push(Math.round((i / 60) * (this.run.count - 1)));
    return [...new Set(frames)];
  }

  private extent(): THREE.Box3 {
    const box = this.bodies?.extent(this.samples()) ?? new THREE.Box3();
    box.union(Drawing.extent(this.run));
    if (!box.isEmpty() && box.min.equals(box.max)) box.expandByScalar(0.5);
    if (box.isEmpty()) box.set(new THREE.Vector3(-1, -1, 0), new THREE.Vector3(1, 1, 0));
    return box;
  }

  private makeCamera(): THREE.PerspectiveCamera | THREE.OrthographicCamera {
    if (this.flat) return new THREE.OrthographicCamera(-1, 1, 1, -1, -100 * this.size, 100 * this.size);
    const camera = new THREE.PerspectiveCamera(35, 1, 0.002 * this.size, 200 * this.size);
    camera.up.set(0, 0, 1);
    return camera;
  }

  private addLight(): void {
    this.renderer.shadowMap.enabled = !this.flat;
    if (this.flat) return;
    this.scene.add(new THREE.HemisphereLight(0xffffff, 0xb4bac2, 2.3));
    const sun = new THREE.DirectionalLight(0xffffff, 1.8);
    sun.position.copy(this.middle).add(new THREE.Vector3(-0.8, -1.2, 2).multiplyScalar(this.size));
    sun.target.position.copy(this.middle);
    sun.castShadow = true;
    sun.shadow.mapSize.set(1024, 1024);
    const reach = this.size;
    Object.assign(sun.shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.01 * this.size, far: 6 * this.size });
    sun.shadow.bias = -0.0005;
    sun.shadow.normalBias = 0.005 * this.size;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.scene.add(sun, sun.target);
  }

  /** Half-planes and half-spaces: a line with strokes, a plane with a grid. */
  private addGrounds(): void {
    const mechanism = this.run.head.mechanism!;
    for (const shape of mechanism.shapes) {
      if (shape.kind !== 'half-plane' && shape.kind !== 'half-space') continue;
      const holder = new THREE.Group();
      const a = shape.axes;
      const p = shape.position;
      holder.matrixAutoUpdate = false;
      holder.matrix.set(a[0], a[1], a[2], p[0], a[3], a[4], a[5], p[1], a[6], a[7], a[8], p[2], 0, 0, 0, 1);
      holder.userData = { body: shape.body, own: holder.matrix.clone() };
      const local = this.middle.clone().applyMatrix4(holder.matrix.clone().invert());
      holder.add(this.flat ? this.hatchedLine(local.x) : this.floor(local));
      this.grounds.push(holder);
      this.scene.add(holder);
    }
  }

  private hatchedLine(middle: number): THREE.Object3D {
    const far = 1.5 * this.size;
    const points = [new THREE.Vector3(middle - far, 0, 0), new THREE.Vector3(middle + far, 0, 0)];
    const step = 0.03 * this.size;
    for (let x = middle - far; x < middle + far; x += step) points.push(new THREE.Vector3(x, 0, 0), new THREE.Vector3(x - 0.7 * step, -step, 0));
    const lines = new THREE.LineSegments(new THREE.BufferGeometry().setFromPoints(points), new THREE.LineBasicMaterial());
    lines.userData = { ground: true };
    return lines;
  }

  private floor(middle: THREE.Vector3): THREE.Object3D {
    const far = 3 * this.size;
    const group = new THREE.Group();
    const plane = new THREE.Mesh(
      new THREE.PlaneGeometry(far, far),
      new THREE.MeshStandardMaterial({ roughness: 1, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 }),
    );
    plane.receiveShadow = true;
    plane.userData = { floor: true };
    const grid = new THREE.GridHelper(far, 30).rotateX(Math.PI / 2);
    grid.userData = { ground: true };
    group.add(plane, grid);
    group.position.set(middle.x, middle.y, 0);
    return group;
  }

  restyle(): void {
    this.scene.background = new THREE.Color(css('--stage'));
    for (const holder of this.grounds) {
      holder.traverse((object) => {
        const material = (object as THREE.Mesh).material as THREE.MeshBasicMaterial | undefined;
        if (object.userData.floor === true) material?.color.set(css('--floor'));
        else if (object.userData.ground === true && material !== undefined) {
          material.vertexColors = false;
          material.color.set(css(this.flat ? '--ground' : '--grid'));
          material.needsUpdate = true;
        }
      });
    }
    this.bodies?.restyle();
    this.links?.restyle();
    this.elements?.restyle();
    this.drawing?.restyle();
    this.invalidate();
  }

  reset(): void {
    this.controls.target.copy(this.middle);
    if (this.camera instanceof THREE.OrthographicCamera) {
      this.camera.position.copy(this.middle).setZ(10 * this.size);
      this.camera.zoom = 1;
      this.frame();
    } else {
      const way = new THREE.Vector3(0.55, -1, 0.5).normalize();
      this.camera.position.copy(this.middle).addScaledVector(way, 2.5 * this.size);
    }
    this.controls.update();
    this.invalidate();
  }

  /** Orthographic: all objects fit with a margin. */
  private frame(): void {
    if (!(this.camera instanceof THREE.OrthographicCamera)) return;
    const extent = this.box.getSize(new THREE.Vector3());
    const aspect = this.width / this.height;
    const margin = 1.25;
    const half = 0.5 * margin * Math.max(extent.y, extent.x / aspect, 0.2 * this.size);
    this.camera.left = -half * aspect;
    this.camera.right = half * aspect;
    this.camera.top = half;
    this.camera.bottom = -half;
    this.camera.updateProjectionMatrix();
  }

  private resize(): void {
    this.width = Math.max(1, this.host.clientWidth);
    this.height = Math.max(1, this.host.clientHeight);
    this.renderer.setSize(this.width, this.height, false);
    this.drawing?.resize(this.width, this.height);
    if (this.camera instanceof THREE.PerspectiveCamera) {
      this.camera.aspect = this.width / this.height;
      this.camera.updateProjectionMatrix();
    } else {
      this.frame();
    }
    this.invalidate();
  }

  /** By keys: turn, move and zoom. */
  turn(right: number, up: number): void {
    const from = this.camera.position.clone().sub(this.controls.target);
    if (this.flat) {
      const step = 0.05 * this.size;
      this.camera.position.add(new THREE.Vector3(right * step, up * step, 0));
      this.controls.target.add(new THREE.Vector3(right * step, up * step, 0));
    } else {
      const s = new THREE.Spherical().setFromVector3(new THREE.Vector3(from.x, from.z, -from.y));
      s.theta += 0.12 * right;
      s.phi = Math.max(0.05, Math.min(Math.PI - 0.05, s.phi - 0.1 * up));
      const back = new THREE.Vector3().setFromSpherical(s);
      this.camera.position.copy(this.controls.target).add(new THREE.Vector3(back.x, -back.z, back.y));
    }
    this.controls.update();
    this.invalidate();
  }

  zoom(factor: number): void {
    if (this.camera instanceof THREE.OrthographicCamera) {
      this.camera.zoom *= factor;
      this.camera.updateProjectionMatrix();
    } else {
      const from = this.camera.position.clone().sub(this.controls.target);
      this.camera.position.copy(this.controls.target).addScaledVector(from, 1 / factor);
    }
    this.controls.update();
    this.invalidate();
  }

  setFollow(body: number): void {
    this.follow = body;
    if (body >= 0 && this.bodies !== undefined) this.followed.copy(this.bodies.middle[body]);
    this.invalidate();
  }

  setTrails(on: boolean): void {
    this.showTrails = on;
    if (on) this.trails.make(this.run, this.bodies);
    else this.trails.clear();
    this.invalidate();
  }

  get piece(): Piece {
    const { frame, part } = this.clock;
    const t = this.run.t;
    return { frame, part, dt: frame + 1 < t.length ? t[frame + 1] - t[frame] : 0 };
  }

  invalidate(): void {
    this.stale = true;
    this.onStale();
  }

  /** Draws when something changed. */
  draw(): void {
    if (!this.stale) return;
    this.stale = false;
    const at = this.piece;
    this.bodies?.update(at);
    this.flexible?.update(at);
    this.links?.update();
    this.elements?.update();
    this.drawing?.update(at);
    this.contacts?.update(at, this.clock.time);
    this.reactions?.update(at);
    for (const holder of this.grounds) {
      const { body, own } = holder.userData as { body: number; own: THREE.Matrix4 };
      holder.matrix.copy(own);
      if (body >= 0 && this.bodies !== undefined) holder.matrix.premultiply(this.bodies.poses[body]);
      holder.matrixWorldNeedsUpdate = true;
    }
    this.trails.show(this.clock.frame);
    if (this.follow >= 0 && this.bodies !== undefined) {
      const now = this.bodies.middle[this.follow];
      const way = now.clone().sub(this.followed);
      this.camera.position.add(way);
      this.controls.target.add(way);
      this.followed.copy(now);
    }
    this.controls.update();
    this.renderer.render(this.scene, this.camera);
    this.placeLabels();
    this.stale = false;
  }

  private placeLabels(): void {
    for (const { at, element } of this.drawing?.labels ?? []) {
      const p = this.project(at);
      if (element !== undefined) element.style.transform = `translate(${p.x.toFixed(1)}px, ${p.y.toFixed(1)}px)`;
    }
  }

  /** Names of what the scene has and the picture does not: bodies, elements, contacts that act. */
  get invisible(): string[] {
    const mechanism = this.run.head.mechanism;
    const elements = this.elements?.drawn;
    const grounds = this.grounds.map((holder) => holder.userData.body as number);
    const seen = new Set([...(this.bodies?.shown ?? []), ...(this.flexible?.shown ?? []), ...(this.links?.shown ?? []), ...(elements?.bodies ?? []), ...grounds]);
    const used = new Set((mechanism?.markers ?? []).map((marker) => marker.body));
    const bodies = (mechanism?.bodies ?? []).filter((body, i) => !seen.has(i) && (body.kind !== 'fixed' || used.has(i)));
    const missing = (mechanism?.elements ?? []).filter((e) => elements?.names.has(e.name) !== true);
    return [...bodies.map((body) => `body ${body.name}`), ...missing.map((e) => `element ${e.name}`), ...(this.contacts?.unplaced ?? this.allContacts())];
  }

  private allContacts(): string[] {
    return this.run.head.contact_names.map((name) => `contact ${name}`);
  }

  /** Pixels of the canvas, from its upper left corner. */
  project(p: THREE.Vector3): THREE.Vector2 {
    const q = p.clone().project(this.camera);
    return new THREE.Vector2(0.5 * (q.x + 1) * this.width, 0.5 * (1 - q.y) * this.height);
  }

  pick(x: number, y: number): { body?: number; contact?: Contact } {
    const ray = new THREE.Raycaster();
    ray.setFromCamera(new THREE.Vector2((2 * x) / this.width - 1, 1 - (2 * y) / this.height), this.camera);
    const contact = this.contacts?.nearest((p) => this.project(p), x, y, 8);
    if (contact !== undefined) return { contact };
    const hits = [this.bodies?.pick(ray), this.flexible?.pick(ray), this.links?.pick(ray)].filter((hit) => hit !== undefined);
    hits.sort((a, b) => a.distance - b.distance);
    return hits.length > 0 ? { body: hits[0].body } : {};
  }
}
