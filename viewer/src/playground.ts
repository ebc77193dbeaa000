// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// The playground: a gallery, an editor, a worker that runs the scene, and the viewer.

import { fromBase64 } from './document';
import { button, el, number } from './dom';
import { Editor } from './editor';
import type { Answer, Job } from './job';
import { fromLink, toLink } from './share';
import { Viewer } from './viewer';

interface Scene {
  name: string;
  topic: string;
  title: string;
  text: string;
}

declare global {
  interface Window {
    saltusPlayground?: Playground;
  }
}

/** Bytes of an element of the page. */
const bytesOf = (id: string): ArrayBuffer => fromBase64((document.getElementById(id)?.textContent ?? '').trim());

async function unpack(id: string): Promise<ArrayBuffer> {
  const packed = bytesOf(id);
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
}

export interface Parameter {
  name: string;
  value: number;
  unit: string; // as written behind the number; part of the value that is set
  about: string; // the comment behind it
}

/** Parameters that are plain numbers, with or without a unit: `{a: 1, b: 50 mm}`, or line by line, also `a: {value: 1, unit: m}`. */
export function parametersOf(text: string): Parameter[] {
  const inline = /^parameters:\s*\{([^\n]*)\}/m.exec(text);
  const block = /^parameters:[ \t]*(?:#.*)?\n((?:[ \t]+.*\n|[ \t]*\n)+)/m.exec(text);
  const part = inline !== null ? inline[1].replace(/,(?![^{]*\})/g, '\n') : (block?.[1] ?? '');
  const list: Parameter[] = [];
  for (const line of part.split('\n')) {
    const found = /^\s*([A-Za-z_]\w*):\s*(?:\{\s*value:\s*)?(-?\d+\.?\d*(?:[eE][-+]?\d+)?)(?:\s*,\s*unit:\s*([^}#]*)\}|\s+([A-Za-z%][A-Za-z0-9/^* -]*?))?\s*\}?\s*(?:#\s*(.*))?$/.exec(line);
    if (found === null) continue;
    list.push({ name: found[1], value: Number(found[2]), unit: found[4] ?? '', about: found[5] ?? found[3] ?? '' });
  }
  return list.slice(0, 24);
}

export class Playground {
  viewer: Viewer | undefined;
  ready = false;
  running = false;
  runs = 0;
  lastSeconds = 0;
  memory = 0;
  readonly editor: Editor;
  private readonly message = el('div', { class: 'message', role: 'status', 'aria-live': 'polite' });
  private readonly progress = el('progress', { max: '1', value: '0', 'aria-label': 'Progress' });
  private readonly place = el('div', { class: 'place' });
  private readonly runButton: HTMLButtonElement;
  private readonly stopButton: HTMLButtonElement;
  private readonly fields: Record<'tol' | 'step' | 'until', HTMLInputElement>;
  private readonly scheme = el('select', { 'aria-label': 'Scheme', name: 'scheme' }, el('option', { value: '' }, 'as the scene says'));
  private readonly gallery = el('select', { 'aria-label': 'Gallery' });
  private readonly sliders = el('div', { class: 'sliders' });
  private readonly overrides = new Map<string, number>();
  private readonly units = new Map<string, string>(); // of overrides, with a blank before
  private worker: Worker | undefined;
  private waiting = false; // for the core, to run the first scene

  constructor(
    host: HTMLElement,
    private readonly workerText: string,
    private readonly wasm: ArrayBuffer,
    private readonly scenes: Scene[],
    private readonly first: ArrayBuffer | undefined, // of a run of the woodpecker
  ) {
    this.editor = new Editor(() => this.listParameters());
    const gallery = this.gallery;
    for (const topic of new Set(scenes.map((scene) => scene.topic))) {
      const group = el('optgroup', { label: topic });
      for (const scene of scenes.filter((one) => one.topic === topic)) group.append(el('option', { value: scene.name }, scene.title));
      gallery.append(group);
    }
    gallery.addEventListener('change', () => {
      this.open(gallery.value);
      this.run();
    });
    const field = (label: string, title: string): HTMLInputElement => el('input', { type: 'text', size: '7', placeholder: 'scene', 'aria-label': title, title: `${title}; empty: as the scene says`, name: label });
    this.fields = { tol: field('tol', 'Tolerance'), step: field('step', 'Step in s'), until: field('until', 'End in s') };
    this.runButton = button('Run', 'Run (Ctrl + Enter)', () => this.run());
    this.stopButton = button('Stop', 'Stop the run', () => this.stop());
    this.stopButton.disabled = true;
    const labelled = (text: string, input: HTMLElement): HTMLElement => el('label', { class: 'check' }, `${text} `, input);
    const left = el('section', { class: 'write', 'aria-label': 'Scene' },
      el('div', { class: 'row' }, el('strong', {}, 'Saltus'), gallery, this.runButton, this.stopButton, this.progress, button('Share', 'Copy a link to this scene', () => void this.share())),
      el('div', { class: 'row' }, labelled('scheme', this.scheme), labelled('tolerance', this.fields.tol), labelled('step', this.fields.step), labelled('until', this.fields.until)),
      this.editor.root, this.message, this.sliders);
    host.replaceChildren(el('div', { class: 'playground' }, left, this.place));
    this.editor.area.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) this.run();
    });
    this.startWorker();
    void this.begin();
  }

  private async begin(): Promise<void> {
    let refused = false;
    try {
      const shared = await fromLink(location.hash);
      if (shared !== undefined) {
        this.editor.text = shared.text;
        for (const name of ['tol', 'step', 'until'] as const) this.fields[name].value = shared[name];
        this.chooseScheme(shared.scheme);
        this.listParameters(shared.values);
        return;
      }
    } catch (error) {
      this.say(`The link holds no scene: ${error instanceof Error ? error.message : String(error)}`, true);
      refused = true;
    }
    this.open('woodpecker');
    this.fields.tol.value = '1e-8';
    if (this.first !== undefined && !refused) this.show(this.first);
    // scenes of this page run at once, those of links when requested
    this.waiting = !refused;
    if (this.ready) this.runFirst();
  }

  private runFirst(): void {
    if (!this.waiting) return;
    this.waiting = false;
    this.run();
  }

  open(name: string): void {
    const scene = this.scenes.find((one) => one.name === name) ?? this.scenes[0];
    this.editor.text = scene.text;
    this.gallery.value = scene.name;
    for (const field of Object.values(this.fields)) field.value = '';
    this.scheme.value = '';
    this.listParameters();
  }

  /** One of the list, or of a link before the list is there. */
  private chooseScheme(name: string): void {
    if (![...this.scheme.options].some((option) => option.value === name)) this.scheme.append(el('option', { value: name }, name));
    this.scheme.value = name;
  }

  private listSchemes(names: string[]): void {
    const chosen = this.scheme.value;
    this.scheme.replaceChildren(el('option', { value: '' }, 'as the scene says'), ...names.map((name) => el('option', { value: name }, name)));
    this.chooseScheme(chosen);
  }

  private startWorker(): void {
    this.worker?.terminate();
    this.ready = false;
    const url = URL.createObjectURL(new Blob([this.workerText], { type: 'text/javascript' }));
    this.worker = new Worker(url);
    this.worker.onmessage = (event: MessageEvent<Answer>) => this.hear(event.data);
    this.worker.onerror = (event) => this.end(`The run ended: ${event.message}`, true);
    this.worker.postMessage({ wasm: this.wasm });
  }

  private hear(answer: Answer): void {
    if (answer.kind === 'ready') {
      this.ready = true;
      this.listSchemes(answer.schemes);
      this.runFirst();
      return;
    }
    if (answer.kind === 'progress') {
      this.progress.value = answer.end > 0 ? answer.t / answer.end : 0;
      this.say(`t = ${number(answer.t)} s`, false);
      return;
    }
    this.runs++;
    this.lastSeconds = answer.seconds;
    this.memory = answer.memory;
    const failed = answer.document === undefined;
    this.end(answer.messages !== '' ? answer.messages.trim() : `Run and report in ${number(answer.seconds, 3)} s.`, failed);
    const place = /^(?:warning: )?scene:(\d+):(\d+)?/m.exec(answer.messages);
    if (failed && place !== null) this.editor.point(Number(place[1]), Number(place[2] ?? '1'));
    if (answer.document !== undefined) this.show(answer.document);
  }

  private show(bytes: ArrayBuffer): void {
    this.viewer?.destroy();
    try {
      this.viewer = new Viewer(this.place, bytes);
      if (!matchMedia('(prefers-reduced-motion: reduce)').matches) this.viewer.clock.play(true);
      this.showUnits();
    } catch (error) {
      this.say(`The run cannot be shown: ${error instanceof Error ? error.message : String(error)}`, true);
    }
  }

  private end(text: string, bad: boolean): void {
    this.running = false;
    this.runButton.disabled = false;
    this.stopButton.disabled = true;
    this.progress.value = bad ? 0 : 1;
    this.say(text, bad);
  }

  private say(text: string, bad: boolean): void {
    this.message.textContent = text;
    this.message.classList.toggle('bad', bad);
  }

  private amount(name: 'tol' | 'step' | 'until'): number {
    const text = this.fields[name].value.trim();
    const value = text === '' ? 0 : Number(text);
    if (!(value >= 0) || !Number.isFinite(value)) throw new Error(`${this.fields[name].getAttribute('aria-label')} is "${text}", must be a positive number`);
    return value;
  }

  run(): void {
    if (this.running || this.worker === undefined) return;
    try {
      const job: Job = {
        text: this.editor.text,
        scheme: this.scheme.value,
        overrides: [...this.overrides].map(([name, value]) => `${name}=${value}${this.units.get(name) ?? ''}`).join('\n'),
        tol: this.amount('tol'),
        step: this.amount('step'),
        until: this.amount('until'),
      };
      this.running = true;
      this.runButton.disabled = true;
      this.stopButton.disabled = false;
      this.progress.value = 0;
      this.say('running', false);
      this.worker.postMessage(job);
    } catch (error) {
      this.say(error instanceof Error ? error.message : String(error), true);
    }
  }

  stop(): void {
    if (!this.running) return;
    this.startWorker();
    this.end('Stopped.', false);
  }

  private listParameters(values: Record<string, number> = {}): void {
    this.overrides.clear();
    this.units.clear();
    const rows = parametersOf(this.editor.text).map(({ name, value, unit, about }) => {
      if (unit !== '') this.units.set(name, ` ${unit}`);
      const span = value === 0 ? 1 : 2 * Math.abs(value);
      const slider = el('input', { type: 'range', min: String(value - span), max: String(value + span), step: String(span / 200), 'aria-label': `Parameter ${name}` });
      const now = values[name] ?? value;
      if (now !== value) this.overrides.set(name, now);
      if (now < value - span) slider.min = String(now);
      if (now > value + span) slider.max = String(now);
      slider.value = String(now);
      const shown = el('output', {}, number(now));
      slider.addEventListener('input', () => {
        this.overrides.set(name, Number(slider.value));
        shown.textContent = number(Number(slider.value));
      });
      slider.addEventListener('change', () => this.run());
      return el('label', { class: 'check', title: about }, `${name} `, slider, shown, el('span', { class: 'legend', 'data-unit': name }, unit !== '' ? ` ${unit}` : ''));
    });
    this.sliders.replaceChildren(...rows);
  }

  /** Units that the run knows, behind the sliders of parameters without one in the text. */
  private showUnits(): void {
    const units = new Map((this.viewer?.run.head.parameters ?? []).map((one) => [one.name, one.unit]));
    this.sliders.querySelectorAll<HTMLElement>('[data-unit]').forEach((place) => {
      const name = place.dataset.unit!;
      if (!this.units.has(name)) place.textContent = ` ${units.get(name) ?? ''}`;
    });
  }

  async share(): Promise<string> {
    const { tol, step, until } = this.fields;
    const hash = await toLink({
      text: this.editor.text, scheme: this.scheme.value, tol: tol.value.trim(), step: step.value.trim(), until: until.value.trim(),
      values: Object.fromEntries(this.overrides),
    });
    history.replaceState(null, '', hash);
    try {
      await navigator.clipboard.writeText(location.href);
      this.say('The link is in the clipboard.', false);
    } catch {
      this.say('The link is in the address bar.', false);
    }
    return hash;
  }
}

async function start(): Promise<void> {
  const host = document.getElementById('saltus');
  if (host === null) return;
  const [worker, scenes, first] = await Promise.all(['saltus-worker', 'saltus-scenes', 'saltus-first'].map(unpack));
  const text = (bytes: ArrayBuffer): string => new TextDecoder().decode(bytes);
  window.saltusPlayground = new Playground(host, text(worker), bytesOf('saltus-wasm'), JSON.parse(text(scenes)) as Scene[], first);
}

void start();
