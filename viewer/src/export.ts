// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// Exports: a picture, a film, tables.

import type { RunDocument } from './document';
import { download, fileName } from './dom';
import type { Stage } from './stage';

export function exportPicture(stage: Stage): Promise<Blob> {
  stage.invalidate();
  stage.draw();
  return new Promise((resolve, reject) => {
    stage.canvas.toBlob((blob) => {
      if (blob === null) {
        reject(new Error('the picture could not be made'));
        return;
      }
      download(fileName(stage.run.head.name, 'png'), blob);
      resolve(blob);
    });
  });
}

/** Records the picture while it plays, from here to the end or until it is stopped. */
export function exportFilm(stage: Stage, onEnd: () => void): () => void {
  const type = ['video/webm;codecs=vp9', 'video/webm;codecs=vp8', 'video/webm'].find((one) => MediaRecorder.isTypeSupported(one));
  if (type === undefined) throw new Error('this browser cannot record films');
  const recorder = new MediaRecorder(stage.canvas.captureStream(30), { mimeType: type });
  const pieces: Blob[] = [];
  recorder.addEventListener('dataavailable', (event) => pieces.push(event.data));
  recorder.addEventListener('stop', () => {
    download(fileName(stage.run.head.name, 'webm'), new Blob(pieces, { type: 'video/webm' }));
    onEnd();
  });
  recorder.start();
  stage.clock.play(true);
  let over = false;
  const stop = (): void => {
    if (over) return;
    over = true;
    clearInterval(watch);
    recorder.stop();
  };
  const watch = setInterval(() => {
    if (!stage.clock.playing) stop();
  }, 100);
  return stop;
}

/** A field of a table: quoted where it has to be; never the start of a formula of a spreadsheet. */
function field(text: string): string {
  const safe = /^[=+\-@\t]/.test(text) ? `'${text}` : text;
  return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function statesTable(run: RunDocument): string {
  const { head } = run;
  const groups: [string, string[]][] = [
    ['q', head.q.map((label) => label.name)],
    ['v', head.v.map((label) => label.name)],
    ['outputs', head.outputs.map((label) => label.name)],
    ['gap', head.contact_names.map((name) => `${name}.gap`)],
    ['force', head.contact_names.flatMap((name) => ['force_N', 'force_T1', 'force_T2'].map((part) => `${name}.${part}`))],
    ['impulse', head.contact_names.flatMap((name) => ['impulse_N', 'impulse_T1', 'impulse_T2'].map((part) => `${name}.${part}`))],
    ...['kinetic', 'potential', 'energy_external', 'energy_drive', 'energy_friction', 'energy_impact', 'energy_remainder', 'h'].map(
      (name): [string, string[]] => [name, [name]],
    ),
  ];
  const there = groups.flatMap(([name, columns]) => {
    const values = run.get(name);
    return values !== undefined && columns.length > 0 ? [{ values, columns }] : [];
  });
  const lines = [['t', ...there.flatMap((one) => one.columns)].map(field).join(',')];
  for (let k = 0; k < run.count; k++) {
    const row = [String(run.t[k])];
    for (const { values, columns } of there) {
      for (let i = 0; i < columns.length; i++) row.push(String(values[k * columns.length + i]));
    }
    lines.push(row.join(','));
  }
  return `${lines.join('\n')}\n`;
}

export function eventsTable(run: RunDocument): string {
  const names = [
    't_accuracy', 'u_before', 'u_after', 'impulse', 'impulse_t1', 'impulse_t2', 'slip_before_1', 'slip_before_2',
    'slip_after_1', 'slip_after_2', 'energy_change',
  ];
  const t = run.need('event_t');
  const numbers = run.need('event_numbers');
  const lines = [['t', 'kind', 'where', ...names].join(',')];
  for (let i = 0; i < t.length; i++) {
    const values = names.map((_, k) => String(numbers[12 * i + k]));
    lines.push([String(t[i]), run.eventKind(i), field(run.eventName(i)), ...values].join(','));
  }
  return `${lines.join('\n')}\n`;
}

export function exportTable(run: RunDocument, what: 'states' | 'events'): void {
  const text = what === 'states' ? statesTable(run) : eventsTable(run);
  download(fileName(`${run.head.name} ${what}`, 'csv'), new Blob([text], { type: 'text/csv' }));
}
