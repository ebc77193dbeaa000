// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// Outlines of machine elements in the axes of their marker, m: cams of arcs, splines and formulas, gears, ratchets.

import type { Element } from './document';

type Outline = [number, number][];

export function circle(r: number, corners = 64): Outline {
  return Array.from({ length: corners }, (_, i) => [r * Math.cos((2 * Math.PI * i) / corners), r * Math.sin((2 * Math.PI * i) / corners)]);
}

export function rectangle(length: number, width: number, x: number, y: number): Outline {
  return [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]].map(([a, b]) => [x + a * length, y + b * width]);
}

/** Second derivatives of a periodic cubic spline with the period 2 pi, by Gauss-Seidel: its matrix is dominated by its diagonal. */
function curvatures(x: number[], y: number[]): number[] {
  const n = x.length;
  const at = (i: number): number => x[((i % n) + n) % n] + 2 * Math.PI * Math.floor(i / n);
  const value = (i: number): number => y[((i % n) + n) % n];
  const m = new Array<number>(n).fill(0);
  for (let sweep = 0; sweep < 60; sweep++) {
    for (let i = 0; i < n; i++) {
      const a = at(i) - at(i - 1);
      const b = at(i + 1) - at(i);
      const right = (value(i + 1) - value(i)) / b - (value(i) - value(i - 1)) / a;
      m[i] = (6 * right - a * m[(i + n - 1) % n] - b * m[(i + 1) % n]) / (2 * (a + b));
    }
  }
  return m;
}

/** c(beta) through points [angle, radius]. */
function radiusOf(points: number[][]): (beta: number) => number {
  const x = points.map(([angle]) => angle);
  const y = points.map(([, r]) => r);
  const n = x.length;
  const m = curvatures(x, y);
  return (beta) => {
    const turn = 2 * Math.PI;
    const b = x[0] + ((((beta - x[0]) % turn) + turn) % turn);
    let i = n - 1;
    while (i > 0 && x[i] > b) i--;
    const j = (i + 1) % n;
    const h = (j === 0 ? x[0] + turn : x[j]) - x[i];
    const s = (b - x[i]) / h;
    const u = 1 - s;
    return u * y[i] + s * y[j] + ((u ** 3 - u) * m[i] + (s ** 3 - s) * m[j]) * (h * h) / 6;
  };
}

/** The surface of a cam. Points are those of a knife, the path of the centre of a roller, or the distance of a flat face. */
export function camOutline(e: Element): Outline {
  const out: Outline = [];
  const arcs = e.arcs ?? [];
  arcs.forEach(([cx, cy, r, from], i) => {
    const to = i + 1 < arcs.length ? arcs[i + 1][3] : arcs[0][3] + 2 * Math.PI;
    const steps = Math.max(2, Math.ceil((48 * (to - from)) / Math.PI));
    for (let k = 0; k < steps; k++) {
      const angle = from + ((to - from) * k) / steps;
      out.push([cx + r * Math.cos(angle), cy + r * Math.sin(angle)]);
    }
  });
  if (arcs.length > 0 || (e.points ?? []).length < 3) return out;
  const c = radiusOf(e.points!);
  const step = Math.PI / 180;
  for (let k = 0; k < 360; k++) {
    const beta = k * step;
    const slope = (c(beta + 0.1 * step) - c(beta - 0.1 * step)) / (0.2 * step);
    const [cos, sin] = [Math.cos(beta), Math.sin(beta)];
    const r = c(beta);
    if (e.follower === 'flat') {
      // the support function: p n + p' t
      out.push([r * cos - slope * sin, r * sin + slope * cos]);
      continue;
    }
    const inside = e.follower === 'roller' ? e.radius / Math.hypot(r, slope) : 0;
    // the normal of the curve, towards the outside, is (r, -slope) in polar axes
    out.push([(r - inside * r) * cos - inside * slope * sin, (r - inside * r) * sin + inside * slope * cos]);
  }
  return out;
}

/** A wheel with teeth of a length along its pitch circle. */
export function gearOutline(pitch: number, tooth: number): Outline {
  const teeth = Math.max(8, Math.round((2 * Math.PI * pitch) / tooth));
  const height = 0.3 * tooth;
  const out: Outline = [];
  for (let i = 0; i < teeth; i++) {
    for (const [part, r] of [[-0.3, pitch - height], [-0.14, pitch + height], [0.14, pitch + height], [0.3, pitch - height]]) {
      const angle = (2 * Math.PI * (i + part)) / teeth;
      out.push([r * Math.cos(angle), r * Math.sin(angle)]);
    }
  }
  return out;
}

/** Saw teeth: a radial flank from root to tip, a straight ramp to the next root. */
export function ratchetOutline(e: Element): Outline {
  const [root, tip] = e.radii;
  const count = Math.round(Math.abs(e.teeth));
  const sense = Math.sign(e.teeth) || 1;
  const out: Outline = [];
  for (let i = 0; i < count; i++) {
    const angle = (2 * Math.PI * i * sense) / count;
    for (const r of [root, tip]) out.push([r * Math.cos(angle), r * Math.sin(angle)]);
  }
  return out;
}
