// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// Numbers for the design of a machine: loads of joints, impacts and wear of contacts, times of events, parameters. Printed
// by the browser, or by saltus report --pdf.

import type { Clock } from './clock';
import type { RunDocument } from './document';
import { button, el, number } from './dom';

type Entry = Record<string, number | null>;

interface Design {
  joints?: Record<string, Entry>;
  contacts?: Record<string, Entry>;
  events?: Record<string, Entry>;
  wear?: Record<string, { friction_work: number; sides: Record<string, number> }>;
  impacts_per_turn?: number | null;
}

/** Heading, unit, value of an entry. */
type Column = [string, (entry: Entry) => string];

function table(name: string, first: string, columns: Column[], entries: [string, Entry][], go?: (entry: Entry) => void): HTMLElement[] {
  if (entries.length === 0) return [];
  const shown = columns.filter(([, text]) => entries.some(([, entry]) => text(entry) !== ''));
  const head = el('tr', {}, ...[first, ...shown.map(([title]) => title)].map((title) => el('th', { scope: 'col' }, title)));
  const body = el('tbody');
  for (const [label, entry] of entries) {
    const row = el('tr', {}, el('th', { scope: 'row' }, label), ...shown.map(([, text]) => el('td', {}, text(entry))));
    if (go !== undefined) {
      row.tabIndex = 0;
      row.addEventListener('click', () => go(entry));
      row.addEventListener('keydown', (event) => {
        if (event.key === 'Enter') go(entry);
      });
    }
    body.append(row);
  }
  return [el('h3', {}, name), el('table', { class: 'numbers' }, el('thead', {}, head), body)];
}

/** A number where it is not zero and known. */
function of(key: string, factor = 1, digits = 4): (entry: Entry) => string {
  return (entry) => {
    const value = entry[key];
    return value === null || value === undefined || value === 0 ? '' : number(factor * value, digits);
  };
}

/** Without rounding noise: numbers below 1e-9 of the largest of their kind become 0. */
function clean(entries: Record<string, Entry> | undefined): [string, Entry][] {
  const list = Object.entries(entries ?? {});
  const most: Record<string, number> = {};
  for (const [, entry] of list) for (const [key, value] of Object.entries(entry)) most[key] = Math.max(most[key] ?? 0, Math.abs(value ?? 0));
  return list.map(([name, entry]) => [name, Object.fromEntries(Object.entries(entry).map(([key, value]) => [key, Math.abs(value ?? 0) > 1e-9 * most[key] ? value : 0]))]);
}

export function designPanel(run: RunDocument, clock: Clock): HTMLElement {
  const root = el('div', { class: 'design' });
  let design: Design = {};
  try {
    design = (JSON.parse(run.head.answers || '{}') as { design?: Design }).design ?? {};
  } catch {
    // a recording of another program
  }
  const span = run.t[run.count - 1] - run.t[0];
  root.append(
    el('p', {}, `Over ${number(span, 6)} s. Forces are means between recorded states, without impacts; impulses of impacts are apart. `,
      button('Print', 'Print this page, or save it as PDF', () => window.print())),
    ...table('Joints', 'joint', [
      ['largest force [N]', of('peak_force')], ['at t [s]', of('peak_at')], ['mean force [N]', of('mean_force')],
      ['largest torque [N m]', of('peak_torque')], ['mean torque [N m]', of('mean_torque')],
      ['largest impulse [N s]', of('struck_impulse')], ['revolutions', of('turns')],
    ], clean(design.joints), (entry) => clock.setTime(entry.peak_at ?? clock.time)),
    ...table('Contacts', 'contact', [
      ['impacts', of('impacts')], ['largest impulse [N s]', of('largest_impulse')], ['sum of impulses [N s]', of('impulse')],
      ['energy lost in impacts [J]', of('impact_work', -1)], ['rebound [m]', of('rebound')],
      ['largest force [N]', of('peak_force')], ['mean force [N]', of('mean_force')], ['closed [% of the time]', of('closed', 100, 3)],
      ['work of friction (wear) [J]', of('friction_work', -1)],
    ], clean(design.contacts).filter(([, entry]) => (entry.impacts ?? 0) > 0 || (entry.mean_force ?? 0) !== 0),
    (entry) => clock.setTime(entry.first_impact ?? clock.time)),
    ...table('Wear by element', 'side', [['work of friction [J]', of('work', -1)]],
      Object.entries(design.wear ?? {}).filter(([, one]) => one.friction_work !== 0).flatMap(([name, one]): [string, Entry][] => [
        [name, { work: one.friction_work }], ...Object.entries(one.sides).map(([side, work]): [string, Entry] => [`${name}, ${side}`, { work }]),
      ])),
    ...table('Events', 'event', [['count', of('count')], ['first at t [s]', of('first', 1, 9)], ['last at t [s]', of('last', 1, 9)]],
      Object.entries(design.events ?? {}).filter(([, entry]) => (entry.count ?? 0) > 0), (entry) => clock.setTime(entry.first ?? clock.time)),
  );
  if (design.impacts_per_turn !== null && design.impacts_per_turn !== undefined) {
    root.append(el('p', {}, `Impacts per revolution: ${number(design.impacts_per_turn)}.`));
  }
  const parameters = (run.head.parameters ?? []).map((one): [string, Entry] => [one.unit === '' ? one.name : `${one.name} [${one.unit}]`, { value: one.value }]);
  root.append(...table('Parameters', 'parameter', [['value', (entry) => number(entry.value, 9)]], parameters));
  return root;
}
