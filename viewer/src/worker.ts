// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// The core in a worker: a scene comes in, the document of its run goes out. To stop a run the page ends the worker.

// eslint-disable-next-line @typescript-eslint/ban-ts-comment
// @ts-ignore: written by emcc when the playground is built
import createPlay from 'saltus-play';
import type { Answer, Job } from './job';
import { unlzma } from './lzma';

interface Core {
  HEAPU8: Uint8Array;
  ccall(name: string, result: string | null, types: string[], values: unknown[]): number;
  UTF8ToString(place: number): string;
}

const host = self as unknown as { onmessage: (event: MessageEvent<Job>) => void; postMessage(answer: Answer, transfer?: Transferable[]): void };
let core: Promise<Core> | undefined;

function start(wasm: ArrayBuffer): Promise<Core> {
  const onProgress = (t: number, end: number): void => host.postMessage({ kind: 'progress', t, end });
  return createPlay({ wasmBinary: unlzma(new Uint8Array(wasm)).buffer, onProgress }) as Promise<Core>;
}

host.onmessage = async (event) => {
  const job = event.data;
  if (job.wasm !== undefined) {
    core = start(job.wasm);
    const made = await core;
    const names = made.UTF8ToString(made.ccall('play_schemes', 'number', [], []));
    host.postMessage({ kind: 'ready', schemes: names.split(' ') });
    return;
  }
  if (core === undefined) return;
  const play = await core;
  const before = performance.now();
  const result = play.ccall('play_run', 'number', ['string', 'string', 'string', 'number', 'number', 'number'], [
    job.text, job.scheme, job.overrides, job.tol, job.step, job.until,
  ]);
  const bytes = play.ccall('play_bytes', 'number', ['number'], [result]);
  const place = play.ccall('play_document', 'number', ['number'], [result]);
  const messages = play.UTF8ToString(play.ccall('play_message', 'number', ['number'], [result]));
  const made = bytes > 0 ? play.HEAPU8.slice(place, place + bytes).buffer : undefined;
  play.ccall('play_free', null, ['number'], [result]);
  const answer: Answer = { kind: 'done', messages, document: made, seconds: (performance.now() - before) / 1000, memory: play.HEAPU8.length };
  host.postMessage(answer, made === undefined ? [] : [made]);
};
