// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// The slider with a tick for every event, across the picture; play and slow motion below it.

import type { Clock } from './clock';
import type { RunDocument } from './document';
import { button, css, el, number } from './dom';

const SLOWEST = -6; // log10
const FASTEST = 2;

export class TimeBar {
  readonly root = el('div', { class: 'timebar' });
  private readonly slider: HTMLInputElement;
  private readonly ticks = el('canvas', { class: 'ticks', 'aria-hidden': 'true' });
  private readonly label = el('output', { class: 'time' });
  private readonly playButton: HTMLButtonElement;
  private readonly speed: HTMLInputElement;
  private readonly speedLabel = el('span', { class: 'speed' });

  constructor(
    private readonly run: RunDocument,
    private readonly clock: Clock,
  ) {
    this.playButton = button('▶', 'Play or pause (space)', () => clock.play(!clock.playing));
    this.slider = el('input', { type: 'range', min: String(clock.start), max: String(clock.end), step: 'any', 'aria-label': 'Time' });
    this.slider.addEventListener('input', () => clock.setTime(Number(this.slider.value)));
    this.speed = el('input', { type: 'range', min: String(SLOWEST), max: String(FASTEST), step: '0.1', 'aria-label': 'Speed, as a power of ten', class: 'speed-slider' });
    this.speed.addEventListener('input', () => this.setSpeed(10 ** Number(this.speed.value)));
    const track = el('div', { class: 'track' }, this.ticks, this.slider);
    this.root.append(
      track,
      button('|◁', 'To the start (Home)', () => clock.setFrame(0)),
      button('◁●', 'Previous event (Shift + ←)', () => clock.jump(-1)),
      button('‹', 'Previous state (←)', () => clock.setFrame(clock.part > 0 ? clock.frame : clock.frame - 1)),
      this.playButton,
      button('›', 'Next state (→)', () => clock.setFrame(clock.frame + 1)),
      button('●▷', 'Next event (Shift + →)', () => clock.jump(1)),
      this.label,
      el('label', { class: 'speed-holder' }, 'speed ', this.speed, this.speedLabel),
    );
    clock.onChange(() => this.update());
    new ResizeObserver(() => this.drawTicks()).observe(track);
    const span = clock.end - clock.start;
    this.setSpeed(span > 20 ? 10 ** Math.min(FASTEST, Math.ceil(Math.log10(span / 20))) : span > 3 || span === 0 ? 1 : 10 ** Math.max(SLOWEST, Math.floor(Math.log10(span / 3))));
    this.update();
  }

  setSpeed(speed: number): void {
    this.clock.speed = Math.min(10 ** FASTEST, Math.max(10 ** SLOWEST, speed));
    this.speed.value = String(Math.log10(this.clock.speed));
    this.speedLabel.textContent = `× ${number(this.clock.speed, 2)}`;
    this.speed.setAttribute('aria-valuetext', `${number(this.clock.speed, 2)} times real time`);
  }

  update(): void {
    const { clock } = this;
    this.slider.value = String(clock.time);
    this.slider.setAttribute('aria-valuetext', `${number(clock.time, 6)} s`);
    this.label.textContent = `t = ${number(clock.time, 8)} s`;
    this.playButton.textContent = clock.playing ? '❚❚' : '▶';
  }

  drawTicks(): void {
    const canvas = this.ticks;
    const ratio = devicePixelRatio;
    canvas.width = Math.max(1, canvas.clientWidth * ratio);
    canvas.height = Math.max(1, canvas.clientHeight * ratio);
    const pen = canvas.getContext('2d');
    if (pen === null) return;
    const t = this.run.need('event_t');
    const thumb = 8 * ratio; // half of the slider's knob
    const span = this.clock.end - this.clock.start || 1;
    // impacts last: other events at their times do not cover them
    for (const impacts of [false, true]) {
      pen.fillStyle = css(impacts ? '--impact' : '--event');
      for (let i = 0; i < t.length; i++) {
        if ((this.run.eventKind(i) === 'impact') !== impacts) continue;
        const x = thumb + ((t[i] - this.clock.start) / span) * (canvas.width - 2 * thumb);
        pen.fillRect(Math.round(x), 0, Math.max(1, Math.round(ratio)), canvas.height);
      }
    }
  }
}
