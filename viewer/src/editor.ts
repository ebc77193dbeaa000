// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// An editor for scenes: a text area over a coloured copy of its text, with a mark where a message points.

import { el } from './dom';

const TOKEN = /(#.*$)|("(?:[^"\\]|\\.)*"|'[^']*')|(^\s*-?\s*[A-Za-z_][\w -]*:|[{,]\s*[A-Za-z_][\w -]*:)|(\b\d+\.?\d*(?:[eE][-+]?\d+)?\b)/gm;
const CLASSES = ['comment', 'string', 'key', 'number'];

export class Editor {
  readonly area = el('textarea', { spellcheck: 'false', 'aria-label': 'Scene', autocomplete: 'off', wrap: 'off' });
  readonly root = el('div', { class: 'editor' });
  private readonly copy = el('pre', { 'aria-hidden': 'true' });
  private mark = -1; // character

  constructor(onChange: () => void) {
    this.root.append(this.copy, this.area);
    this.area.addEventListener('input', () => {
      this.mark = -1;
      this.paint();
      onChange();
    });
    this.area.addEventListener('scroll', () => {
      this.copy.scrollTop = this.area.scrollTop;
      this.copy.scrollLeft = this.area.scrollLeft;
    });
  }

  get text(): string {
    return this.area.value;
  }

  set text(value: string) {
    this.area.value = value;
    this.mark = -1;
    this.paint();
  }

  /** The character at a line and column, both from 1; goes there and marks it. */
  point(line: number, column: number): void {
    const lines = this.text.split('\n');
    const row = Math.min(Math.max(line, 1), lines.length);
    const at = Math.min(Math.max(column, 1), lines[row - 1].length + 1);
    this.mark = lines.slice(0, row - 1).reduce((sum, one) => sum + one.length + 1, 0) + at - 1;
    this.paint();
    this.area.focus();
    this.area.setSelectionRange(this.mark, Math.min(this.mark + 1, this.text.length));
    const height = this.area.scrollHeight / Math.max(1, lines.length);
    this.area.scrollTop = Math.max(0, (row - 0.5) * height - 0.5 * this.area.clientHeight);
    this.area.scrollLeft = 0;
  }

  get marked(): number {
    return this.mark;
  }

  private paint(): void {
    const pieces: Node[] = [];
    const add = (from: number, to: number, name: string): void => {
      if (to <= from) return;
      if (this.mark >= from && this.mark < to) {
        const here = this.mark;
        this.mark = -1;
        add(from, here, name);
        pieces.push(el('span', { class: 'mark' }, this.text.slice(here, here + 1)));
        add(here + 1, to, name);
        this.mark = here;
        return;
      }
      const text = this.text.slice(from, to);
      pieces.push(name === '' ? document.createTextNode(text) : el('span', { class: name }, text));
    };
    let last = 0;
    for (const found of this.text.matchAll(TOKEN)) {
      const kind = CLASSES.findIndex((_, i) => found[i + 1] !== undefined);
      add(last, found.index, '');
      add(found.index, found.index + found[0].length, CLASSES[kind] ?? '');
      last = found.index + found[0].length;
    }
    add(last, this.text.length, '');
    this.copy.replaceChildren(...pieces, '\n');
  }
}
