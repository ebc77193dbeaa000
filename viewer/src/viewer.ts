// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// The viewer: one run, shown in an element. Reports, the playground and notebooks use this.

import { Clock } from './clock';
import { RunDocument } from './document';
import { button, check, el, number, withUnit } from './dom';
import type { Contact } from './contacts';
import { exportFilm, exportPicture, exportTable } from './export';
import { designPanel } from './design';
import { aboutPanel, certificatePanel, EventTable, scenePanel, thinned } from './panels';
import { Plots } from './plots';
import { Stage } from './stage';
import { TimeBar } from './timebar';

const KEYS: [string, string][] = [
  ['space', 'play or pause'],
  ['← →', 'state by state'],
  ['Shift + ← →', 'event by event'],
  ['Home, End', 'start, end'],
  ['− +', 'slower, faster'],
  ['w a s d', 'turn the camera, or move a flat picture'],
  ['q e', 'zoom out, in'],
  ['r', 'camera as at the start'],
  ['b', 'next body'],
  ['f', 'follow the selected body'],
  ['k', 'next contact'],
  ['t', 'trails'],
  ['c', 'friction cones'],
  ['n', 'normals of contacts'],
  ['j', 'symbols of joints'],
  ['h', 'forces of joints'],
  ['l', 'light or dark'],
  ['z, Shift + z', 'curves: zoom in about the time that is shown, out'],
  ['1 … 6', 'curves, events, design, certificate, scene, about'],
  ['?', 'this list'],
];

export class Viewer {
  readonly run: RunDocument;
  readonly clock: Clock;
  readonly stage: Stage;
  readonly plots: Plots;
  readonly root = el('div', { class: 'viewer' });
  selected = -1; // body
  private readonly info = el('div', { class: 'info', 'aria-live': 'polite' });
  private readonly bodies = el('select', { 'aria-label': 'Selected body' });
  private readonly timebar: TimeBar;
  private readonly tabs: { button: HTMLButtonElement; panel: HTMLElement }[] = [];
  private readonly toggles = new Map<string, HTMLInputElement>();
  private alive = true;
  private readonly listeners = new AbortController();
  private scheduled = false;
  private contact: Contact | undefined; // that was picked

  constructor(host: HTMLElement, bytes: ArrayBuffer) {
    this.run = new RunDocument(bytes);
    this.clock = new Clock(this.run);
    host.replaceChildren(this.root);
    const picture = el('div', { class: 'stage' });
    const left = el('div', { class: 'left' });
    const side = el('div', { class: 'side' });
    this.root.append(this.header(), left, side);
    left.append(picture);
    this.stage = new Stage(this.run, this.clock, picture);
    this.stage.canvas.setAttribute('aria-label', this.pictureText());
    this.timebar = new TimeBar(this.run, this.clock);
    if (this.run.schematic !== '') left.append(el('p', { class: 'card' }, this.run.schematic));
    left.append(this.timebar.root, this.tools(), this.info);
    this.plots = new Plots(this.run, this.clock);
    this.addTabs(side);
    this.listen();
    this.stage.onStale = () => this.schedule();
    this.stage.draw();
    this.showInfo();
    this.schedule();
  }

  /** Pictures are drawn when something changed, not all the time. */
  private schedule(): void {
    if (this.scheduled || !this.alive) return;
    this.scheduled = true;
    requestAnimationFrame((now) => {
      this.scheduled = false;
      if (!this.alive) return;
      this.clock.tick(now);
      if (this.stage.contacts !== undefined) this.stage.contacts.flash = this.clock.playing ? 0.25 * this.clock.speed : 0;
      this.stage.draw();
      this.showInfo();
      if (this.clock.playing) this.schedule();
    });
  }

  /** Shows another state of the same scene, of a live view. */
  follow(bytes: ArrayBuffer): void {
    this.run.take(new RunDocument(bytes));
    this.clock.setFrame(0);
    this.stage.invalidate();
    this.plots.rebuild();
    this.schedule();
  }

  destroy(): void {
    this.alive = false;
    this.listeners.abort();
    this.stage.destroy();
    this.plots.destroy();
    this.root.remove();
  }

  private header(): HTMLElement {
    const { head } = this.run;
    const passed = head.certificate === undefined ? 'not certified' : head.certificate.passed ? 'certificate holds' : 'certificate FAILS';
    const title = el('h1', {}, head.name === '' ? 'A run' : head.name);
    const words = [head.scheme, head.status, passed, head.shown < head.recorded ? thinned(this.run) : ''].filter((text) => text !== '');
    const save = el('div', { class: 'save' },
      button('PNG', 'Save the picture', () => void exportPicture(this.stage)),
      this.filmButton(),
      button('CSV', 'Save the shown states as a table', () => exportTable(this.run, 'states')),
      button('Events CSV', 'Save the events as a table', () => exportTable(this.run, 'events')),
      button('?', 'Keys (?)', () => this.showKeys()),
      button('◐', 'Light or dark (l)', () => this.toggleTheme()),
    );
    return el('header', {}, title, el('p', {}, words.join(' · ')), save);
  }

  private pictureText(): string {
    const { head } = this.run;
    const things = head.mechanism !== undefined ? `${head.mechanism.bodies.length} bodies` : `${head.view?.items.length ?? 0} drawn things`;
    return `Moving picture of ${head.name}: ${things}, ${this.run.need('event_t').length} events. ${head.description}`;
  }

  private tools(): HTMLElement {
    const tools = el('div', { class: 'tools' });
    const bodies = this.run.head.mechanism?.bodies ?? [];
    if (bodies.length > 0) {
      this.bodies.append(el('option', { value: '-1' }, 'no body selected'));
      bodies.forEach((body, i) => this.bodies.append(el('option', { value: String(i) }, body.name)));
      this.bodies.addEventListener('change', () => this.select(Number(this.bodies.value)));
      tools.append(this.bodies, this.toggle('follow', 'follow', false, (on) => this.stage.setFollow(on ? this.selected : -1)));
    }
    const contacts = this.stage.contacts;
    if (contacts !== undefined) {
      const set = (change: () => void) => (): void => {
        change();
        this.stage.invalidate();
      };
      tools.append(
        this.toggle('forces', 'forces and impulses', true, (on) => set(() => (contacts.showForces = on))()),
        this.toggle('points', 'contact points', true, (on) => set(() => (contacts.showPoints = on))()),
        this.toggle('normals', 'normals', false, (on) => set(() => (contacts.showNormals = on))()),
        this.toggle('cones', 'friction cones', false, (on) => set(() => (contacts.showCones = on))()),
      );
      const scale = el('input', { type: 'range', min: '-1', max: '1.5', step: '0.1', value: '0', 'aria-label': 'Length of arrows, as a power of ten' });
      const legend = el('span', { class: 'legend' });
      const tell = (): void => {
        contacts.scale = 10 ** Number(scale.value);
        if (this.stage.reactions !== undefined) this.stage.reactions.scale = contacts.scale;
        legend.textContent = contacts.most.force > 0 ? ` largest force ${number(contacts.most.force)} N` : '';
        if (contacts.most.impulse > 0) legend.textContent += ` largest impulse ${number(contacts.most.impulse)} N s`;
        this.stage.invalidate();
      };
      scale.addEventListener('input', tell);
      tell();
      tools.append(el('label', { class: 'check' }, 'arrows ', scale), legend);
    }
    tools.append(this.toggle('trails', 'trails', false, (on) => this.stage.setTrails(on)));
    const shown = this.stage.bodies;
    if (shown?.layered === true) {
      tools.append(this.toggle('contact-shapes', 'contact shapes', false, (on) => {
        shown.showContactShapes(on);
        this.stage.invalidate();
      }));
    }
    const { elements, flexible } = this.stage;
    if (elements?.slack === true) tools.append(...this.enlarger('clearances ', 'Clearances', '', (factor) => (elements.clearance = factor)));
    if (flexible !== undefined) {
      const most = `, up to ${number(flexible.most, 2)} m (red)`;
      tools.append(...this.enlarger('displacements ', 'Displacements', most, (factor) => (flexible.factor = factor)));
    }
    if (this.stage.links !== undefined) {
      tools.append(this.toggle('joints', 'joints', true, (on) => {
        this.stage.links!.symbols.visible = on;
        this.stage.invalidate();
      }));
    }
    const reactions = this.stage.reactions;
    if (reactions !== undefined) {
      tools.append(
        this.toggle('reactions', 'forces of joints', false, (on) => {
          reactions.show = on;
          this.stage.invalidate();
        }),
        el('span', { class: 'legend' }, ` largest ${number(reactions.most)} N`),
      );
    }
    tools.append(button('Reset camera', 'Camera as at the start (r)', () => this.stage.reset()));
    return tools;
  }

  /** A factor from 1 to 1000 of something small. */
  private enlarger(label: string, title: string, legend: string, set: (factor: number) => void): HTMLElement[] {
    const range = el('input', { type: 'range', min: '0', max: '3', step: '0.1', value: '0', 'aria-label': `${title}, enlarged by a power of ten` });
    const text = el('span', { class: 'legend' }, ` × 1${legend}`);
    range.addEventListener('input', () => {
      const factor = 10 ** Number(range.value);
      set(factor);
      text.textContent = ` × ${number(factor, 2)}${legend}`;
      this.stage.invalidate();
    });
    return [el('label', { class: 'check' }, label, range), text];
  }

  private filmButton(): HTMLButtonElement {
    let stop: (() => void) | undefined;
    const name = (text: string): void => {
      made.textContent = text;
      made.setAttribute('aria-label', `${text}: ${made.title}`);
    };
    const made = button('WebM', 'Record a film from here to the end', () => {
      if (stop !== undefined) {
        stop();
        return;
      }
      stop = exportFilm(this.stage, () => {
        stop = undefined;
        name('WebM');
      });
      name('Stop film');
    });
    return made;
  }

  private toggle(key: string, text: string, on: boolean, action: (on: boolean) => void): HTMLLabelElement {
    const label = check(text, on, action);
    this.toggles.set(key, label.querySelector('input')!);
    return label;
  }

  private flip(key: string): void {
    this.toggles.get(key)?.click();
  }

  private addTabs(side: HTMLElement): void {
    const bar = el('div', { class: 'tabs', role: 'tablist' });
    side.append(bar);
    const add = (name: string, panel: HTMLElement): void => {
      const id = `tab-${this.tabs.length}`;
      const tab = el('button', { type: 'button', role: 'tab', id, 'aria-controls': `${id}-panel` }, name);
      panel.id = `${id}-panel`;
      panel.setAttribute('role', 'tabpanel');
      panel.setAttribute('aria-labelledby', id);
      panel.classList.add('tabpanel');
      panel.dataset.name = name.replace(/ .*/, '');
      panel.tabIndex = 0;
      const place = this.tabs.length;
      tab.addEventListener('click', () => this.open(place));
      this.tabs.push({ button: tab, panel });
      bar.append(tab);
      side.append(panel);
    };
    add('Curves', el('div', {}, this.plots.root));
    add(`Events (${this.run.need('event_t').length})`, new EventTable(this.run, this.clock).root);
    add('Design', designPanel(this.run, this.clock));
    add('Certificate', certificatePanel(this.run, this.clock));
    add('Scene', scenePanel(this.run));
    add('About', aboutPanel(this.run));
    this.open(0);
    bar.addEventListener('keydown', (event) => {
      const now = this.tabs.findIndex(({ button: one }) => one === document.activeElement);
      const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
      if (now < 0 || by === 0) return;
      const next = (now + by + this.tabs.length) % this.tabs.length;
      this.open(next);
      this.tabs[next].button.focus();
      event.preventDefault();
      event.stopPropagation();
    });
  }

  open(place: number): void {
    this.tabs.forEach(({ button: tab, panel }, i) => {
      tab.setAttribute('aria-selected', String(i === place));
      tab.tabIndex = i === place ? 0 : -1;
      panel.hidden = i !== place;
    });
  }

  select(body: number): void {
    this.selected = body;
    this.contact = undefined;
    this.bodies.value = String(body);
    this.stage.bodies?.highlight(body);
    if (this.toggles.get('follow')?.checked === true) this.stage.setFollow(body);
    this.stage.invalidate();
    this.showInfo();
  }

  /** Pixels of the canvas. */
  pickAt(x: number, y: number): void {
    const { body, contact } = this.stage.pick(x, y);
    this.select(body ?? -1);
    this.selectContact(contact);
  }

  private selectContact(contact: Contact | undefined): void {
    this.contact = contact;
    this.showInfo();
  }

  /** Numbers of the contact that was picked, at the time that is shown. */
  private contactText(picked: Contact): string {
    const now = this.stage.contacts?.now.find((one) => one.key === picked.key);
    if (now === undefined) return `contact ${picked.name}: not there now`;
    const list = (values: number[]): string => values.map((x) => number(x)).join(', ');
    const place = list(now.point.toArray().slice(0, this.run.dimension));
    const impulse = now.impulse.some((p) => p !== 0) ? `, impulse ${list(now.impulse)} N s` : '';
    return `contact ${now.name}: at ${place} m, gap ${number(now.gap)} m, force ${list(now.force)} N${impulse}`;
  }

  private showInfo(): void {
    const { head } = this.run;
    const parts: string[] = [];
    const body = this.selected >= 0 ? head.mechanism?.bodies[this.selected] : undefined;
    if (body !== undefined && this.stage.bodies !== undefined) {
      const p = this.stage.bodies.middle[this.selected].toArray().slice(0, this.run.dimension);
      parts.push(`${body.name}: at ${p.map((x) => number(x, 6)).join(', ')} m`);
      const v = this.run.get('v');
      if (v !== undefined && body.v >= 0) {
        const n = this.run.dimension === 2 ? 3 : 6;
        for (let k = 0; k < n; k++) {
          const label = head.v[body.v + k];
          if (label !== undefined) parts.push(`${withUnit(label.name, label.unit)} ${number(v[this.clock.frame * head.v.length + body.v + k], 5)}`);
        }
      }
      if (body.mass !== null) parts.push(`mass ${number(body.mass)} kg`);
    }
    if (this.contact !== undefined) parts.push(this.contactText(this.contact));
    const frame = this.run.need('frame')[this.clock.frame];
    parts.push(`state ${frame} of ${head.recorded - 1}${this.clock.part > 0 ? ' and on' : ''}`);
    const text = parts.join(' · ');
    this.info.setAttribute('aria-live', this.clock.playing ? 'off' : 'polite');
    if (this.info.textContent !== text) this.info.textContent = text;
  }

  toggleTheme(): void {
    const root = document.documentElement;
    const dark = root.dataset.theme !== undefined ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = dark ? 'light' : 'dark';
    this.restyle();
  }

  restyle(): void {
    this.stage.restyle();
    this.plots.rebuild();
    this.timebar.drawTicks();
  }

  private showKeys(): void {
    const old = this.root.querySelector('dialog');
    if (old !== null) {
      old.remove();
      return;
    }
    const list = el('dl');
    for (const [key, what] of KEYS) list.append(el('dt', {}, key), el('dd', {}, what));
    const dialog = el('dialog', { 'aria-label': 'Keys' }, el('h2', {}, 'Keys'), list);
    dialog.append(button('Close', 'Close', () => dialog.remove()));
    dialog.addEventListener('close', () => dialog.remove());
    this.root.append(dialog);
    dialog.showModal();
  }

  private listen(): void {
    let down = { x: 0, y: 0 };
    const canvas = this.stage.canvas;
    const { signal } = this.listeners;
    canvas.addEventListener('pointerdown', (event) => (down = { x: event.clientX, y: event.clientY }), { signal });
    canvas.addEventListener('pointerup', (event) => {
      if (Math.hypot(event.clientX - down.x, event.clientY - down.y) > 3) return;
      const box = canvas.getBoundingClientRect();
      this.pickAt(event.clientX - box.left, event.clientY - box.top);
    }, { signal });
    document.addEventListener('keydown', (event) => this.key(event), { signal });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.restyle(), { signal });
  }

  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    const typing = target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.isContentEditable;
    if (typing || event.ctrlKey || event.metaKey || event.altKey || !this.root.isConnected) return;
    const slider = target instanceof HTMLInputElement;
    if (slider && (target.type === 'text' || target.type === 'number')) return;
    const { clock, stage } = this;
    if (slider && target.type === 'range' && /^(Arrow|Home|End)/.test(event.key) && !event.shiftKey) return;
    if (event.key === ' ' && (target instanceof HTMLButtonElement || (slider && target.type === 'checkbox') || target.tagName === 'SUMMARY')) return;
    const actions: Record<string, () => void> = {
      ' ': () => clock.play(!clock.playing),
      ArrowLeft: () => (event.shiftKey ? clock.jump(-1) : clock.setFrame(clock.part > 0 ? clock.frame : clock.frame - 1)),
      ArrowRight: () => (event.shiftKey ? clock.jump(1) : clock.setFrame(clock.frame + 1)),
      Home: () => clock.setFrame(0),
      End: () => clock.setFrame(this.run.count - 1),
      '-': () => this.timebar.setSpeed(clock.speed / 10 ** 0.5),
      '+': () => this.timebar.setSpeed(clock.speed * 10 ** 0.5),
      a: () => stage.turn(-1, 0),
      d: () => stage.turn(1, 0),
      w: () => stage.turn(0, 1),
      s: () => stage.turn(0, -1),
      q: () => stage.zoom(1 / 1.2),
      e: () => stage.zoom(1.2),
      r: () => stage.reset(),
      b: () => {
        const n = this.run.head.mechanism?.bodies.length ?? 0;
        if (n > 0) this.select(this.selected + 1 < n ? this.selected + 1 : -1);
      },
      f: () => this.flip('follow'),
      k: () => {
        const list = stage.contacts?.now ?? [];
        const next = list.findIndex((one) => one.key === this.contact?.key) + 1;
        this.select(-1);
        this.selectContact(list[next]);
      },
      z: () => this.plots.zoom(2),
      Z: () => this.plots.zoom(0.5),
      t: () => this.flip('trails'),
      c: () => this.flip('cones'),
      n: () => this.flip('normals'),
      j: () => this.flip('joints'),
      h: () => this.flip('reactions'),
      l: () => this.toggleTheme(),
      '?': () => this.showKeys(),
    };
    for (let i = 0; i < this.tabs.length; i++) actions[String(i + 1)] = () => this.open(i);
    const action = actions[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  }
}
