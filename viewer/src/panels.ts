// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// Texts and tables of a run: events, certificate, scene, settings.

import type { Clock } from './clock';
import type { RunDocument } from './document';
import { el, number } from './dom';

const PAGE = 500;

function cells(row: HTMLTableRowElement, texts: string[], tag: 'td' | 'th' = 'td'): void {
  for (const text of texts) row.append(el(tag, tag === 'th' ? { scope: 'col' } : {}, text));
}

/** All events, a page at a time; a row goes to its time. */
export class EventTable {
  readonly root = el('div', { class: 'events' });
  private readonly body = el('tbody');
  private readonly list: number[] = [];
  private page = 0;
  private kind = '';
  private readonly pages = el('span', { 'aria-live': 'polite' });

  constructor(
    private readonly run: RunDocument,
    private readonly clock: Clock,
  ) {
    const t = run.need('event_t');
    if (t.length === 0) {
      this.root.append(el('p', {}, 'There are no events in this run.'));
      return;
    }
    const present = new Set<string>();
    for (let i = 0; i < t.length; i++) present.add(run.eventKind(i));
    const kinds = el('select', { 'aria-label': 'Kind of events' }, el('option', { value: '' }, `all ${t.length} events`));
    for (const kind of present) kinds.append(el('option', { value: kind }, kind));
    kinds.addEventListener('change', () => {
      this.kind = kinds.value;
      this.page = 0;
      this.fill();
    });
    const turn = (by: number) => () => {
      this.page = Math.max(0, Math.min(Math.ceil(this.list.length / PAGE) - 1, this.page + by));
      this.show();
    };
    const back = el('button', { type: 'button', 'aria-label': 'Earlier events' }, '‹');
    const on = el('button', { type: 'button', 'aria-label': 'Later events' }, '›');
    back.addEventListener('click', turn(-1));
    on.addEventListener('click', turn(1));
    const head = el('tr');
    cells(head, ['t [s]', 'event', 'where', 'impulse [N s]', 'velocity before → after [m/s]', 'energy [J]'], 'th');
    this.root.append(el('div', { class: 'row' }, kinds, back, this.pages, on), el('table', {}, el('thead', {}, head), this.body));
    this.fill();
    clock.onChange(() => this.mark());
  }

  private fill(): void {
    this.list.length = 0;
    const n = this.run.need('event_t').length;
    for (let i = 0; i < n; i++) if (this.kind === '' || this.run.eventKind(i) === this.kind) this.list.push(i);
    this.show();
  }

  private show(): void {
    const numbers = this.run.need('event_numbers');
    const t = this.run.need('event_t');
    const first = this.page * PAGE;
    const rows = this.list.slice(first, first + PAGE).map((i) => {
      const of = (k: number): number => numbers[12 * i + k];
      const impact = this.run.eventKind(i) === 'impact';
      const row = el('tr', { tabindex: '0', 'data-event': String(i) });
      cells(row, [
        number(t[i], 9),
        this.run.eventKind(i),
        this.run.eventName(i),
        impact ? number(of(3)) : '',
        impact ? `${number(of(1))} → ${number(of(2))}` : '',
        of(10) !== 0 ? number(of(10)) : '',
      ]);
      const go = (): void => this.clock.setTime(t[i]);
      row.addEventListener('click', go);
      row.addEventListener('keydown', (event) => {
        if (event.key === 'Enter') go();
      });
      return row;
    });
    this.body.replaceChildren(...rows);
    const last = Math.min(first + PAGE, this.list.length);
    this.pages.textContent = this.list.length > PAGE ? ` ${first + 1} to ${last} of ${this.list.length} ` : '';
    this.mark();
  }

  /** The events at the time that is shown. */
  private mark(): void {
    const t = this.run.need('event_t');
    const now = this.clock.time;
    for (const row of this.body.rows) {
      const at = t[Number(row.dataset.event)];
      row.classList.toggle('now', Math.abs(at - now) <= 1e-12 * Math.max(1, Math.abs(now)));
    }
  }
}

export function certificatePanel(run: RunDocument, clock: Clock): HTMLElement {
  const root = el('div');
  const c = run.head.certificate;
  if (c === undefined) {
    root.append(el('p', {}, 'Not certified; record with --certify: a certificate takes a scene and every step of the run.'));
    return root;
  }
  const verdict = !c.passed ? 'Something does not hold.' : c.complete ? 'Everything holds.' : 'What was looked at holds.';
  root.append(
    el('p', { class: c.passed ? 'good' : 'bad' }, el('strong', {}, verdict)),
    el('p', {}, `The motion was computed anew over ${number(c.followed, 6)} of ${number(c.span, 6)} s, on a path that shares no code with the schemes.`),
  );
  if (c.unfollowed !== '') root.append(el('p', {}, `The rest was not: ${c.unfollowed}.`));
  const head = el('tr');
  cells(head, ['item', 'verdict', 'worst', 'limit', 'at t [s]', 'places', 'it says'], 'th');
  const body = el('tbody');
  for (const item of c.items) {
    const row = el('tr', { class: item.checked === 0 ? 'idle' : item.passed ? '' : 'fails' });
    cells(row, [
      item.name,
      item.checked === 0 ? 'nothing of this kind' : item.passed ? 'holds' : 'FAILS',
      item.checked === 0 ? '' : `${number(item.value, 3)} ${item.unit}`,
      item.checked === 0 ? '' : number(item.limit, 3),
      item.checked === 0 || item.t === null ? '' : number(item.t, 6),
      item.checked === 0 ? '' : String(item.checked),
      item.says,
    ]);
    if (item.t !== null && item.checked > 0) {
      const t = item.t;
      row.tabIndex = 0;
      row.addEventListener('click', () => clock.setTime(t));
      row.addEventListener('keydown', (event) => {
        if (event.key === 'Enter') clock.setTime(t);
      });
    }
    body.append(row);
  }
  root.append(el('table', {}, el('thead', {}, head), body));
  return root;
}

export function scenePanel(run: RunDocument): HTMLElement {
  if (run.head.scene === '') return el('p', {}, 'The recording has no scene.');
  return el('pre', { tabindex: '0', 'aria-label': 'Text of the scene' }, run.head.scene);
}

function line(list: HTMLElement, name: string, value: string): void {
  if (value !== '') list.append(el('dt', {}, name), el('dd', {}, value));
}

/** Settings and results. */
export function aboutPanel(run: RunDocument): HTMLElement {
  const { head } = run;
  const list = el('dl');
  const h = run.get('h');
  const t = run.t;
  line(list, 'Scheme', head.scheme);
  line(list, 'Options', head.options);
  line(list, 'How well the motion is known', head.accuracy);
  line(list, 'What was asked, and what limited the steps', head.explanation.trim());
  line(list, 'Status', head.status);
  line(list, 'Time', `${number(t[0], 6)} s to ${number(t[run.count - 1], 6)} s`);
  line(list, 'Steps', head.steps >= 0 ? String(head.steps) : 'unknown, the run was interrupted');
  if (h !== undefined) {
    const lengths = Array.from(h).filter((x) => x > 0);
    if (lengths.length > 0) {
      const low = lengths.reduce((a, b) => Math.min(a, b));
      const high = lengths.reduce((a, b) => Math.max(a, b));
      line(list, 'Lengths of steps', low === high ? `${number(low)} s` : `${number(low)} s to ${number(high)} s`);
    }
  }
  line(list, 'States', thinned(run));
  line(list, 'Contacts', head.contact_names.length <= 20 ? head.contact_names.join(', ') : `${head.contact_names.length}`);
  line(list, 'Program', `Saltus ${head.saltus}`);
  return el('div', {}, ...(head.description !== '' ? [el('p', {}, head.description)] : []), list);
}

export function thinned(run: RunDocument): string {
  const { head } = run;
  if (head.shown === head.recorded) return `${head.recorded}, all shown`;
  const beside = head.events_shown
    ? 'those beside every event are shown'
    : 'there are more events than room for the states beside them; the table has all events';
  return `${head.shown} of ${head.recorded} recorded ones are shown; ${beside}; forces are means and impulses sums over those left out`;
}
