// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// Colours that people with any kind of sight can tell apart (Okabe and Ito), for things and for curves.

import { css } from './dom';

const THINGS = ['#2f7fc1', '#d98a1f', '#2a9d78', '#c25e9a', '#5bb4e5', '#c8502a', '#8a7fd0', '#a3a534'];
const CURVES = ['--line-1', '--line-2', '--line-3', '--line-4', '--line-5', '--line-6', '--line-7', '--line-8'];
const NAMES: Record<string, string> = {
  blue: '#2f7fc1',
  orange: '#d98a1f',
  green: '#2a9d78',
  pink: '#c25e9a',
  cyan: '#5bb4e5',
  red: '#c8502a',
  violet: '#8a7fd0',
  olive: '#a3a534',
  grey: '#8b949e',
  black: '#30363d',
};

export function thingColour(i: number): string {
  return THINGS[((i % THINGS.length) + THINGS.length) % THINGS.length];
}

export function curveColour(i: number): string {
  return css(CURVES[i % CURVES.length]);
}

export function namedColour(name: string, fallback: number): string {
  return NAMES[name] ?? thingColour(fallback);
}
