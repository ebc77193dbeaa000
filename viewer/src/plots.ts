// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// Curves over time with a cursor at the time that is shown, and the phase plane. A click goes to that time.

import uPlot from 'uplot';
import type { Clock } from './clock';
import type { Label, Numbers, RunDocument } from './document';
import { check, css, el, number, withUnit } from './dom';
import { curveColour } from './palette';
import { attitudes, column, isQuaternion, moving, range, type Series } from './series';

interface Panel {
  title: string;
  unit: string;
  x: ArrayLike<number>;
  series: Series[];
  shown: Set<number>;
  about: string;
  stems?: boolean;
}

const MOST_SHOWN = 6;
const HEIGHT = 144; // of a panel, with its labels, px
const APART = 30; // ratio of ranges above which curves have axes of their own
const MOST_LISTED = 120;
const PAIRS = 8; // of bodies with curves of their own: the number of colours
const OF_BODIES = /^(angular_)?momentum\.|^joints\.(open|turned)$/; // outputs that every scene with bodies has

/** Columns with one unit become one panel. */
function byUnit(title: string, labels: Label[], values: Numbers | undefined, count: number, t: ArrayLike<number>, only: (name: string) => boolean = () => true): Panel[] {
  if (values === undefined) return [];
  const wanted = (label: Label): boolean => !isQuaternion(label) && only(label.name);
  const units = [...new Set(labels.filter(wanted).map((label) => label.unit))];
  return units.map((unit) => {
    const series = labels
      .map((label, i) => ({ label, i }))
      .filter(({ label }) => label.unit === unit && wanted(label))
      .slice(0, MOST_LISTED)
      .map(({ label, i }) => ({ label: label.name, values: column(values, labels.length, i, count) }));
    return panel(title, unit, t, series, `${title} over time`);
  });
}

function panel(title: string, unit: string, x: ArrayLike<number>, series: Series[], about: string): Panel {
  const moves = moving(series);
  const shown = new Set<number>();
  for (let i = 0; i < series.length && shown.size < MOST_SHOWN; i++) if (moves[i]) shown.add(i);
  return { title, unit, x, series, shown, about };
}

/** Curves that would be flat beside the largest one have a panel of their own, down to ranges of 1e-4 of it. */
function bySize(one: Panel): Panel[] {
  const width = one.series.map(({ values }) => {
    const [low, high] = range(values);
    return high - low;
  });
  const most = Math.max(...width);
  const small = one.series.filter((_, i) => width[i] < most / APART && width[i] > 1e-4 * most);
  if (small.length === 0 || one.series.length > MOST_SHOWN) return [one];
  const rest = one.series.filter((series) => !small.includes(series));
  const names = (series: Series[]): string => `${one.title}: ${series.map(({ label }) => label).join(', ')}`;
  return [panel(names(rest), one.unit, one.x, rest, one.about), ...bySize(panel(names(small), one.unit, one.x, small, one.about))];
}

/** Whether a curve lies on one that is drawn before it: then it is dashed, and both are seen. */
function covers(series: Series[], chosen: number[], k: number): boolean {
  const own = series[chosen[k]].values;
  const [low, high] = range(own);
  return chosen.slice(0, k).some((i) => {
    const other = series[i].values;
    let equal = 0;
    for (let n = 0; n < own.length; n++) if (Math.abs((own[n] ?? 0) - (other[n] ?? 0)) <= 5e-3 * (high - low)) equal++;
    return equal > 0.9 * own.length;
  });
}

/** Vertical lines from 0 to the values. */
function stemPaths(u: uPlot, series: number): uPlot.Series.Paths {
  const stroke = new Path2D();
  const zero = u.valToPos(0, 'y', true);
  const values = u.data[series];
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    const x = u.valToPos(u.data[0][i], 'x', true);
    if (value === null || value === undefined || x < u.bbox.left || x > u.bbox.left + u.bbox.width) continue;
    stroke.moveTo(x, zero);
    stroke.lineTo(x, u.valToPos(value, 'y', true));
  }
  return { stroke, fill: null, clip: null, band: null, gaps: null, flags: 1 } as unknown as uPlot.Series.Paths;
}

/** Impulses of impacts, drawn as stems. */
function stems(run: RunDocument): Panel[] {
  const t = run.need('event_t');
  const numbers = run.need('event_numbers');
  const contacts = run.need('event_contact');
  const names = run.head.contact_names;
  const events: number[] = [];
  for (let i = 0; i < t.length; i++) if (run.eventKind(i) === 'impact') events.push(i);
  if (events.length === 0) return [];
  const x = [run.t[0], ...events.map((i) => t[i]), run.t[run.count - 1]]; // all panels span the run
  const series = names.slice(0, MOST_LISTED).map((name, c) => {
    return { label: lawLabel(name), values: [null, ...events.map((i) => (contacts[i] === c ? numbers[12 * i + 3] : null)), null] };
  });
  const used = series.filter((one) => one.values.some((value) => value !== null));
  return used.length > 0 ? [{ ...panel('Impulses', 'N s', x, used, 'Normal impulses of impacts'), stems: true }] : [];
}

function gapPanels(run: RunDocument): Panel[] {
  const names = run.head.contact_names;
  const gap = run.get('gap');
  if (gap === undefined) return [];
  const series = names.slice(0, MOST_LISTED).map((label, i) => ({ label, values: column(gap, names.length, i, run.count) }));
  return [panel('Gaps', 'm', run.t, series, 'Gaps of contacts')];
}

function forcePanels(run: RunDocument): Panel[] {
  const names = run.head.contact_names;
  const nc = names.length;
  const force = run.get('force');
  const start = run.get('row_start');
  if (force === undefined) return start !== undefined ? [rowForces(run, start)] : [];
  const series: Series[] = [];
  names.slice(0, MOST_LISTED / 2).forEach((name, i) => {
    series.push({ label: `${name} normal`, values: column(force, 3 * nc, 3 * i, run.count) });
    if ((run.head.friction[i] ?? 0) > 0) series.push({ label: `${name} friction`, values: column(force, 3 * nc, 3 * i + 1, run.count) });
  });
  return [panel('Contact forces', 'N', run.t, series, 'Forces of contacts, means between recorded states')];
}

/** Name of a law of time-varying contacts, which is that of two materials. */
const lawLabel = (name: string): string => (name === 'default/default' ? 'all contacts' : name);

/** Normal forces of time-varying contacts, summed by pairs of bodies, or by law if there are more pairs than colours. */
function rowForces(run: RunDocument, start: Numbers): Panel {
  const rows = run.need('row_force');
  const laws = run.need('row_law');
  const bodies = run.get('row_bodies');
  const nameOf = (body: number): string => (body < 0 ? 'world' : (run.head.mechanism?.bodies[body]?.name ?? String(body)));
  const sum = (label: (row: number) => string): Series[] => {
    const sums = new Map<string, Float64Array>();
    for (let k = 0; k < run.count; k++) {
      for (let i = start[k]; i < start[k + 1]; i++) {
        const force = rows[3 * i] || 0;
        if (force === 0 || laws[i] >= run.head.contact_names.length) continue;
        const values = sums.get(label(i)) ?? new Float64Array(run.count);
        sums.set(label(i), values);
        values[k] += force;
      }
    }
    return [...sums].map(([name, values]) => ({ label: name, values }));
  };
  const pairs = bodies === undefined ? [] : sum((i) => `${nameOf(bodies[2 * i])} / ${nameOf(bodies[2 * i + 1])}`);
  const series = pairs.length > 0 && pairs.length <= PAIRS ? pairs : sum((i) => lawLabel(run.head.contact_names[laws[i]]));
  return panel('Contact forces', 'N', run.t, series.slice(0, MOST_LISTED), 'Normal forces, summed over the contacts of two bodies or of a kind');
}

function energyPanels(run: RunDocument): Panel[] {
  const panels: Panel[] = [];
  const kinetic = run.get('kinetic');
  const potential = run.get('potential');
  if (kinetic !== undefined && potential !== undefined && Number.isFinite(potential[0])) {
    const total = Float64Array.from(kinetic, (value, i) => value + potential[i]);
    const series = [
      { label: 'kinetic', values: kinetic },
      { label: 'potential', values: potential },
      { label: 'total', values: total },
    ];
    panels.push(panel('Energy', 'J', run.t, series, 'Kinetic, potential and total energy'));
  }
  const ledger = ['external', 'drive', 'friction', 'impact', 'remainder']
    .map((name) => ({ label: name, values: run.get(`energy_${name}`) }))
    .filter((one): one is { label: string; values: Numbers } => one.values !== undefined && one.values.some((x) => x !== 0 && !Number.isNaN(x)));
  if (ledger.length > 0) panels.push(panel('Energy ledger', 'J', run.t, ledger, 'Where energy went since the start'));
  return panels;
}

function stepPanel(run: RunDocument): Panel[] {
  const h = run.get('h');
  if (h === undefined || !h.some((x) => x > 0)) return [];
  const logs = Array.from(h, (x) => (x > 0 ? Math.log10(x) : null));
  return [panel('Length of steps', 'log₁₀ s', run.t, [{ label: 'log₁₀ h', values: logs }], 'Length of the last step before each state')];
}

/** Multiples of the step between two values, also where the step is near the rounding of the values; of a finer step, from
 * 1, 2, 5, if they are fewer than four. */
function ticks(min: number, max: number, step: number): number[] {
  const first = Math.ceil(min / step - 1e-6);
  const count = Math.min(40, Math.floor(max / step + 1e-6) - first + 1);
  if (count < 4 && max - min > 1e-12 * Math.max(Math.abs(min), Math.abs(max))) {
    const power = 10 ** Math.floor(Math.log10(step) + 1e-9);
    const lead = step / power;
    return ticks(min, max, power * (lead < 1.5 ? 0.5 : lead < 4 ? 1 : 2));
  }
  return count > 0 ? Array.from({ length: count }, (_, i) => (first + i) * step) : [min];
}

/** Significant digits that tell neighbouring ticks apart. */
function digits(splits: number[]): number {
  const largest = Math.max(...splits.map(Math.abs));
  const step = splits.length > 1 ? Math.abs(splits[1] - splits[0]) : largest;
  return step > 0 ? Math.min(15, Math.max(6, Math.ceil(Math.log10(largest / step)) + 2)) : 6;
}

/** Pixels of an axis with these labels. */
function widthOf(_: uPlot, values: string[] | null): number {
  return Math.max(58, 16 + 6.5 * Math.max(0, ...(values ?? []).map((text) => text.length)));
}

/** Measured values by column name. */
interface Measured {
  t: Numbers;
  columns: Map<string, Numbers>;
}

function measuredOf(run: RunDocument): Measured | undefined {
  const t = run.get('measured_t');
  const values = run.get('measured');
  if (t === undefined || values === undefined) return undefined;
  return { t, columns: new Map((run.head.measured ?? []).map((label, i) => [label.name, values.subarray(i * t.length, (i + 1) * t.length)])) };
}

/** Columns without a curve of the same name. */
function measuredPanels(run: RunDocument, measured: Measured | undefined, panels: Panel[]): Panel[] {
  if (measured === undefined) return [];
  const known = new Set(panels.filter((one) => one.x === run.t).flatMap((one) => one.series.map((series) => series.label)));
  const rest = [...measured.columns].filter(([name]) => !known.has(name)).map(([label, values]) => ({ label, values }));
  return rest.length > 0 ? [panel('Measured', '', measured.t, rest, 'Measured values without a curve of their name')] : [];
}

/** Two ascending lists of times as one, with the place of each in it; equal times of `a` stay apart. */
function merge(a: ArrayLike<number>, b: ArrayLike<number>): { x: number[]; ofA: number[]; ofB: number[] } {
  const [x, ofA, ofB]: number[][] = [[], [], []];
  for (let i = 0, k = 0; i < a.length || k < b.length; ) {
    if (k >= b.length || (i < a.length && a[i] <= b[k])) {
      ofA.push(x.push(a[i++]) - 1);
    } else {
      ofB.push(x.push(b[k++]) - 1);
    }
  }
  return { x, ofA, ofB };
}

export class Plots {
  readonly root = el('div', { class: 'plots' });
  private plots: uPlot[] = [];
  private readonly sizes = new ResizeObserver(() => this.resize());
  private readonly panels: Panel[];
  private readonly measured: Measured | undefined;
  private phase: { x: number; y: number } | undefined;

  constructor(
    private readonly run: RunDocument,
    private readonly clock: Clock,
  ) {
    const { head, count, t } = run;
    this.panels = [
      ...byUnit('Outputs', head.outputs, run.get('outputs'), count, t, (name) => !OF_BODIES.test(name)).flatMap(bySize),
      ...forcePanels(run),
      ...stems(run),
      ...energyPanels(run),
      ...byUnit('Positions', head.q, run.get('q'), count, t),
      panel('Attitudes', 'rad', t, attitudes(head.q, run.get('q'), count), 'Roll, pitch and yaw over time'),
      ...byUnit('Velocities', head.v, run.get('v'), count, t),
      ...byUnit('Joint forces', head.joint_names.map((name) => ({ name, unit: 'N' })), run.get('joint_force'), count, t),
      ...byUnit('Momentum and joints', head.outputs, run.get('outputs'), count, t, (name) => OF_BODIES.test(name)),
      ...gapPanels(run),
      ...stepPanel(run),
    ].filter((one) => one.series.length > 0);
    this.measured = measuredOf(run);
    for (const one of this.panels) one.series.forEach((_, i) => this.hasMeasured(one, i) && one.shown.add(i));
    this.panels.unshift(...measuredPanels(run, this.measured, this.panels));
    // the first coordinate that moves, and its velocity
    const q = run.get('q');
    const columns = head.q.map((label, i) => ({ label: label.name, values: q === undefined ? [] : column(q, head.q.length, i, count) }));
    const first = moving(columns).indexOf(true);
    const rate = head.v.findIndex((label) => label.name === `${head.q[first]?.name}'`);
    if (first >= 0) this.phase = { x: first, y: head.q.length + Math.max(0, rate) };
    clock.onChange(() => this.moveCursor());
    this.sizes.observe(this.root);
  }

  get titles(): string[] {
    return this.panels.map((one) => one.title);
  }

  private hasMeasured(one: Panel, i: number): boolean {
    return one.x === this.run.t && this.measured?.columns.has(one.series[i].label) === true;
  }

  /** Curves of a panel, then measured values of the same names as points, over the times of both. */
  private dataOf(one: Panel, chosen: number[]): { data: (number | null | undefined)[][]; points: uPlot.Series[] } {
    const plain = chosen.map((i) => Array.from(one.series[i].values, (v) => (v === null || Number.isNaN(v) ? null : v)));
    const found = chosen.filter((i) => this.hasMeasured(one, i));
    if (found.length === 0 || this.measured === undefined) return { data: [Array.from(one.x), ...plain], points: [] };
    const { t, columns } = this.measured;
    const { x, ofA, ofB } = merge(one.x, t);
    const spread = (values: ArrayLike<number | null>, places: number[]): (number | null | undefined)[] => {
      const out = new Array<number | null | undefined>(x.length).fill(undefined);
      places.forEach((place, k) => (out[place] = values[k]));
      return out;
    };
    const points = found.map((i) => ({
      label: `${one.series[i].label} measured`, stroke: curveColour(chosen.indexOf(i)), width: 1.5, paths: () => null,
      points: { show: true, size: 6, width: 1.5, fill: css('--page') },
    }));
    return { data: [x, ...plain.map((values) => spread(values, ofA)), ...found.map((i) => spread(columns.get(one.series[i].label)!, ofB))], points };
  }

  destroy(): void {
    this.sizes.disconnect();
    for (const plot of this.plots) plot.destroy();
    this.plots = [];
  }

  rebuild(): void {
    for (const plot of this.plots) plot.destroy();
    this.plots = [];
    this.root.replaceChildren();
    if (this.root.clientWidth === 0) return;
    const still = this.panels.filter((one) => one.shown.size === 0 && !this.opened.has(one.title));
    for (const one of this.panels) if (!still.includes(one)) this.build(one);
    if (still.length > 0) this.root.append(this.constants(still));
    if (this.phase !== undefined) this.buildPhase();
  }

  private readonly opened = new Set<string>(); // panels of constants that were requested
  private readonly chosen = new Set<Panel>(); // whose curves were chosen

  /** Panels in which nothing varies: their values as text, with a button that draws them. */
  private constants(panels: Panel[]): HTMLElement {
    const list = el('ul', {});
    for (const one of panels) {
      const values = one.series.slice(0, MOST_SHOWN).map((series) => `${series.label} ${number(series.values[0])}`).join(', ');
      const draw = el('button', { type: 'button', 'aria-label': `Draw ${one.title}` }, 'draw');
      draw.addEventListener('click', () => {
        this.opened.add(one.title);
        one.series.slice(0, MOST_SHOWN).forEach((_, i) => one.shown.add(i));
        this.rebuild();
      });
      list.append(el('li', {}, `${withUnit(one.title, one.unit)}: ${values}${one.series.length > MOST_SHOWN ? ', …' : ''} `, draw));
    }
    return el('details', { 'data-title': 'constants' }, el('summary', {}, 'Constant values'), list);
  }

  /** Labels of an axis; the last one of an axis with a unit has it. */
  private axis(unit = ''): uPlot.Axis {
    return {
      font: '11px system-ui, sans-serif',
      stroke: css('--text'),
      grid: { stroke: css('--rule'), width: 1 },
      ticks: { stroke: css('--rule'), width: 1 },
      size: 28,
      splits: (_u, _axis, min, max, step) => ticks(min, max, step),
      values: (_u, splits) => splits.map((x, i) => `${number(x, digits(splits))}${unit !== '' && i === splits.length - 1 ? ` ${unit}` : ''}`),
    };
  }

  private build(one: Panel): void {
    const title = withUnit(one.title, one.unit);
    const holder = el('section', { class: 'panel', 'aria-label': title });
    const place = el('div', { role: 'img', 'aria-label': this.describe(one) });
    holder.append(el('h3', {}, title), place);
    if (one.shown.size < one.series.length || this.chosen.has(one)) holder.append(this.chooser(one));
    this.root.append(holder);
    const chosen = [...one.shown].sort((a, b) => a - b);
    const { data, points } = this.dataOf(one, chosen);
    const options: uPlot.Options = {
      width: this.root.clientWidth,
      height: HEIGHT,
      pxAlign: 0,
      scales: { x: { time: false }, ...(one.stems === true ? { y: { range: (_u: uPlot, low: number, high: number) => uPlot.rangeNum(Math.min(0, low), Math.max(0, high), 0.1, true) as uPlot.Range.MinMax } } : {}) },
      legend: { live: false, isolate: false },
      cursor: { y: false, drag: { x: true, y: false } },
      axes: [this.axis('s'), { ...this.axis(), size: widthOf, space: 14 }],
      series: [
        { label: 't [s]' },
        ...chosen.map((i, k) => ({ label: one.series[i].label, stroke: curveColour(k), width: 1.5, dash: covers(one.series, chosen, k) ? [6, 6] : k < 4 ? undefined : [7, 3], spanGaps: false, points: { show: false }, ...(one.stems === true ? { paths: stemPaths } : {}) })),
        ...points,
      ],
      hooks: { draw: [(u) => this.placeCursor(u)] },
    };
    const plot = new uPlot(options, data as uPlot.AlignedData, place);
    plot.over.append(el('div', { class: 'now-line' }));
    this.placeCursor(plot);
    let down = 0;
    plot.over.addEventListener('mousedown', (event) => (down = event.clientX));
    plot.over.addEventListener('mouseup', (event) => {
      if (Math.abs(event.clientX - down) < 3) this.clock.setTime(plot.posToVal(event.clientX - plot.over.getBoundingClientRect().left, 'x'));
    });
    this.plots.push(plot);
  }

  /** Text instead of the picture: ranges of the curves. */
  private describe(one: Panel): string {
    const parts = [...one.shown].slice(0, MOST_SHOWN).map((i) => {
      const [low, high] = range(one.series[i].values);
      return `${one.series[i].label} from ${number(low)} to ${number(high)}`;
    });
    return `${one.about}: ${parts.join('; ')} ${one.unit}`;
  }

  private chooser(one: Panel): HTMLElement {
    const list = el('div', { class: 'choose' });
    one.series.forEach((series, i) => {
      list.append(
        check(series.label, one.shown.has(i), (on) => {
          this.chosen.add(one);
          if (on) one.shown.add(i);
          else one.shown.delete(i);
          const open = details.open;
          this.rebuild();
          if (open) this.root.querySelectorAll('details').forEach((other) => (other.open = other.dataset.title === one.title));
        }),
      );
    });
    const details = el('details', { 'data-title': one.title }, el('summary', {}, `${one.shown.size} of ${one.series.length} curves${one.shown.size < Math.min(MOST_SHOWN, one.series.length) ? ', the others are constant or hidden' : ''}`), list);
    return details;
  }

  /** The cursor is an element over the plot: moving it redraws nothing. */
  private placeCursor(u: uPlot): void {
    const cursor = u.over.querySelector<HTMLElement>('.now-line');
    if (cursor === null) return;
    const x = u.valToPos(this.clock.time, 'x');
    cursor.hidden = !(x >= 0 && x <= u.over.clientWidth);
    cursor.style.transform = `translateX(${x.toFixed(1)}px)`;
  }

  /** All curves over an interval that contains the shown time; zooms out to the whole. */
  zoom(factor: number): void {
    const { start, end, time } = this.clock;
    for (const plot of this.plots) {
      const { min = start, max = end } = plot.scales.x;
      const width = Math.min(end - start, (max - min) / factor);
      const from = Math.min(Math.max(start, time - 0.5 * width), end - width);
      plot.setScale('x', { min: from, max: from + width });
    }
  }

  private moveCursor(): void {
    for (const plot of this.plots) this.placeCursor(plot);
    this.schedulePhase();
  }

  private resize(): void {
    const width = this.root.clientWidth;
    if (width === 0) return;
    if (this.plots.length === 0) this.rebuild();
    else for (const plot of this.plots) plot.setSize({ width, height: HEIGHT });
    this.drawPhase();
  }

  // ---- phase plane ----

  private canvas: HTMLCanvasElement | undefined;

  private get phaseColumns(): { label: string; values: Numbers; width: number; column: number }[] {
    const { head } = this.run;
    const of = (name: string, labels: Label[]): { label: string; values: Numbers; width: number; column: number }[] => {
      const values = this.run.get(name);
      return values === undefined ? [] : labels.map((label, i) => ({ label: withUnit(label.name, label.unit), values, width: labels.length, column: i }));
    };
    return [...of('q', head.q), ...of('v', head.v), ...of('outputs', head.outputs)];
  }

  private buildPhase(): void {
    const columns = this.phaseColumns;
    const choice = (which: 'x' | 'y', title: string): HTMLSelectElement => {
      const select = el('select', { 'aria-label': title });
      columns.slice(0, 400).forEach((one, i) => select.append(el('option', { value: String(i) }, one.label)));
      select.value = String(this.phase![which]);
      select.addEventListener('change', () => {
        this.phase![which] = Number(select.value);
        this.drawPhase();
      });
      return select;
    };
    this.canvas = el('canvas', { class: 'phase', role: 'img' });
    this.root.append(
      el('section', { class: 'panel', 'aria-label': 'Phase plane' },
        el('h3', {}, 'Phase plane'),
        el('div', { class: 'row' }, choice('x', 'Across'), ' across, ', choice('y', 'Up'), ' up'),
        this.canvas,
      ),
    );
    this.drawPhase();
  }

  private phaseWaits = false;

  private schedulePhase(): void {
    if (this.phaseWaits) return;
    this.phaseWaits = true;
    requestAnimationFrame(() => {
      this.phaseWaits = false;
      this.drawPhase();
    });
  }

  private drawPhase(): void {
    const canvas = this.canvas;
    if (canvas === undefined || this.phase === undefined || !canvas.isConnected || canvas.clientWidth === 0) return;
    const columns = this.phaseColumns;
    const a = columns[this.phase.x];
    const b = columns[Math.min(this.phase.y, columns.length - 1)];
    canvas.setAttribute('aria-label', `${b.label} over ${a.label}`);
    const ratio = devicePixelRatio;
    canvas.width = canvas.clientWidth * ratio;
    canvas.height = canvas.clientHeight * ratio;
    const pen = canvas.getContext('2d');
    if (pen === null) return;
    const n = this.run.count;
    const at = (one: typeof a, k: number): number => one.values[k * one.width + one.column];
    const span = (one: typeof a): [number, number] => {
      const [low, high] = range(column(one.values, one.width, one.column, n));
      return high > low ? [low, high] : [low - 1, low + 1];
    };
    const [x0, x1] = span(a);
    const [y0, y1] = span(b);
    const m = 10 * ratio;
    const left = 58 * ratio;
    const px = (x: number): number => left + ((x - x0) / (x1 - x0)) * (canvas.width - left - m);
    const py = (y: number): number => canvas.height - 30 * ratio - ((y - y0) / (y1 - y0)) * (canvas.height - 30 * ratio - m);
    pen.font = `${11 * ratio}px system-ui, sans-serif`;
    pen.fillStyle = css('--text');
    pen.strokeStyle = css('--rule');
    pen.strokeRect(left, m, canvas.width - left - m, canvas.height - 30 * ratio - m);
    pen.textAlign = 'right';
    pen.fillText(number(y1, 3), left - 4 * ratio, m + 10 * ratio);
    pen.fillText(number(y0, 3), left - 4 * ratio, canvas.height - 30 * ratio);
    pen.textAlign = 'left';
    pen.fillText(number(x0, 3), left, canvas.height - 14 * ratio);
    pen.textAlign = 'right';
    pen.fillText(number(x1, 3), canvas.width - m, canvas.height - 14 * ratio);
    pen.lineWidth = 1.2 * ratio;
    pen.strokeStyle = curveColour(0);
    pen.beginPath();
    for (let k = 0; k < n; k++) {
      if (k > 0 && this.run.t[k] === this.run.t[k - 1]) pen.moveTo(px(at(a, k)), py(at(b, k))); // no line across a jump
      else pen.lineTo(px(at(a, k)), py(at(b, k)));
    }
    pen.stroke();
    pen.fillStyle = css('--accent');
    pen.beginPath();
    pen.arc(px(at(a, this.clock.frame)), py(at(b, this.clock.frame)), 4.5 * ratio, 0, 2 * Math.PI);
    pen.fill();
  }
}
