// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// Elements of the page. Texts become text nodes: nothing here reads HTML.

type Child = Node | string;

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export function button(text: string, title: string, action: () => void): HTMLButtonElement {
  // visible words are part of the accessible name, for voice control
  const name = /[A-Za-z]{2}/.test(text) && !title.includes(text) ? `${text}: ${title}` : title;
  const made = el('button', { type: 'button', title, 'aria-label': name }, text);
  made.addEventListener('click', action);
  return made;
}

export function check(text: string, on: boolean, action: (on: boolean) => void): HTMLLabelElement {
  const box = el('input', { type: 'checkbox' });
  box.checked = on;
  box.addEventListener('change', () => action(box.checked));
  return el('label', { class: 'check' }, box, ` ${text}`);
}

/** A number as people read it: four digits, or with `more` up to twelve. */
export function number(value: number | null | undefined, digits = 4): string {
  if (value === null || value === undefined || Number.isNaN(value)) return '–';
  if (value === 0) return '0';
  const size = Math.abs(value);
  const text = size >= 1e5 || size < 1e-3 ? value.toExponential(digits - 1) : value.toPrecision(digits);
  return text.replace(/(\.\d*?)0+(e|$)/, '$1$2').replace(/\.(e|$)/, '$1').replace('e+', 'e');
}

export function withUnit(name: string, unit: string): string {
  return unit !== '' && unit !== '1' ? `${name} [${unit}]` : name;
}

export function css(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export function download(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = el('a', { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

export function fileName(name: string, extension: string): string {
  const stem = name.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '').slice(0, 60);
  return `${stem === '' ? 'saltus' : stem}.${extension}`;
}
