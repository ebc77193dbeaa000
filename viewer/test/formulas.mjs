// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// Independent evaluation of scene formulas: the objects of the section `view` follow from the columns of a
// recording without the code that is tested.
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

const FUNCTIONS = { sin: Math.sin, cos: Math.cos, tan: Math.tan, asin: Math.asin, acos: Math.acos, atan: Math.atan, atan2: Math.atan2, sqrt: Math.sqrt, abs: Math.abs, exp: Math.exp, log: Math.log, tanh: Math.tanh, hypot: Math.hypot, min: Math.min, max: Math.max, sign: Math.sign, step: (x) => (x < 0 ? 0 : 1) };

/** A formula with names from `value`. Throws on syntax that this small reader does not support. */
export function evaluate(text, value) {
  const tokens = String(text).match(/\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|[A-Za-z_][\w.]*'?|[-+*/^(),]|\S/g) ?? [];
  let at = 0;
  const take = (what) => (tokens[at] === what ? (at++, true) : false);
  const expect = (what) => {
    if (!take(what)) throw new Error(`"${text}": "${what}" expected, not "${tokens[at]}"`);
  };
  const atom = () => {
    if (take('(')) {
      const x = sum();
      expect(')');
      return x;
    }
    const token = tokens[at++];
    if (token === undefined) throw new Error(`"${text}" ends early`);
    if (/^[\d.]/.test(token)) return Number(token);
    if (token === 'pi') return Math.PI;
    if (take('(')) {
      const list = [sum()];
      while (take(',')) list.push(sum());
      expect(')');
      if (FUNCTIONS[token] === undefined) throw new Error(`"${text}": function ${token}`);
      return FUNCTIONS[token](...list);
    }
    return value(token);
  };
  const power = () => {
    const x = atom();
    return take('^') ? x ** signed() : x;
  };
  const signed = () => (take('-') ? -signed() : take('+') ? signed() : power());
  const product = () => {
    let x = signed();
    for (;;) {
      if (take('*')) x *= signed();
      else if (take('/')) x /= signed();
      else return x;
    }
  };
  const sum = () => {
    let x = product();
    for (;;) {
      if (take('+')) x += product();
      else if (take('-')) x -= product();
      else return x;
    }
  };
  const result = sum();
  if (at < tokens.length) throw new Error(`"${text}": "${tokens[at]}" is left over`);
  return result;
}

/** Places of everything that the section `view` draws in a state: a list of x, y, z, x ... each. Empty without the section. */
export function viewPlaces(path, state) {
  const scene = parse(readFileSync(path, 'utf8'), { schema: 'failsafe' });
  const value = (name) => {
    if (name.endsWith("'") || scene.parameters?.[name] === undefined) {
      const known = state(name);
      if (known === undefined) throw new Error(`${path}: what is ${name}?`);
      return known;
    }
    const given = scene.parameters[name];
    return evaluate(typeof given === 'object' ? given.value : given, value);
  };
  const place = (list) => [...list.map((one) => evaluate(one, value)), ...(list.length === 2 ? [0] : [])];
  return (scene.view ?? []).filter((item) => item.type !== 'contact').map((item) => ({ type: item.type === 'circle' && item.at.length === 3 ? 'sphere' : item.type, points: (item.points ?? [item.at]).flatMap(place) }));
}
