// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// A scene in a link: JSON, deflated, in base64 after the #, which is not sent to a server. Data from a link are checked and are
// never more than text.

export interface Shared {
  text: string;
  scheme: string;
  tol: string;
  step: string;
  until: string;
  values: Record<string, number>; // of parameters, where sliders were moved
}

const MOST = 300000; // characters of a scene in a link

async function through(bytes: Uint8Array<ArrayBuffer>, stream: CompressionStream | DecompressionStream, most: number): Promise<Uint8Array<ArrayBuffer>> {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const pieces: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > most) {
      await reader.cancel();
      throw new Error('too long');
    }
    pieces.push(value);
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

export async function toLink(shared: Shared): Promise<string> {
  const packed = await through(new TextEncoder().encode(JSON.stringify(shared)), new CompressionStream('deflate-raw'), MOST);
  const text = btoa(Array.from(packed, (byte) => String.fromCharCode(byte)).join(''));
  return `#s=${text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`;
}

/** Names and numbers, and nothing else. */
function valuesOf(given: unknown): Record<string, number> {
  const values: Record<string, number> = {};
  if (given === undefined) return values;
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw new Error('"values" are no parameters');
  const entries = Object.entries(given);
  if (entries.length > 24) throw new Error('"values" are too many');
  for (const [name, value] of entries) {
    if (!/^[A-Za-z_]\w{0,59}$/.test(name) || name === '__proto__' || typeof value !== 'number' || !Number.isFinite(value)) throw new Error('"values" are no numbers of parameters');
    values[name] = value;
  }
  return values;
}

export async function fromLink(hash: string): Promise<Shared | undefined> {
  const found = /^#s=([A-Za-z0-9_-]+)$/.exec(hash);
  if (found === null) return undefined;
  const binary = atob(found[1].replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = await through(Uint8Array.from(binary, (c) => c.charCodeAt(0)), new DecompressionStream('deflate-raw'), MOST);
  const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  if (typeof value !== 'object' || value === null) throw new Error('no scene');
  const text = (name: string, most: number): string => {
    const part = (value as Record<string, unknown>)[name];
    if (typeof part !== 'string' || part.length > most) throw new Error(`"${name}" is no text`);
    return part;
  };
  const shared = {
    text: text('text', MOST), scheme: text('scheme', 60), tol: text('tol', 40), step: text('step', 40), until: text('until', 40),
    values: valuesOf((value as Record<string, unknown>).values),
  };
  for (const name of ['tol', 'step', 'until'] as const) {
    if (shared[name] !== '' && !(Number(shared[name]) > 0)) throw new Error(`"${name}" is no positive number`);
  }
  if (!/^[a-z0-9-]*$/.test(shared.scheme)) throw new Error('"scheme" is no name');
  return shared;
}
