// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// Messages between the playground and its worker.

export interface Job {
  wasm?: ArrayBuffer; // the first time, in LZMA
  text: string;
  scheme: string;
  overrides: string; // name=value, one a line
  tol: number; // 0: from the scene; so are the others
  step: number;
  until: number;
}

export type Answer =
  | { kind: 'ready'; schemes: string[] }
  | { kind: 'progress'; t: number; end: number }
  | { kind: 'done'; messages: string; document?: ArrayBuffer; seconds: number; memory: number };
