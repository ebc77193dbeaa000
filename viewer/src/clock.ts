// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// The time that is shown: a frame and a part of the way to the next one. Both sides of a jump are frames of their own at the
// same time, so a frame is more specific than a time.

import { lastAtMost, type RunDocument } from './document';

export class Clock {
  frame = 0;
  part = 0; // 0 <= part < 1
  playing = false;
  speed = 1; // s of the run in a second
  private readonly listeners: (() => void)[] = [];
  private last = 0;

  constructor(readonly run: RunDocument) {}

  get start(): number {
    return this.run.t[0];
  }

  get end(): number {
    return this.run.t[this.run.count - 1];
  }

  get time(): number {
    const t = this.run.t;
    return this.part > 0 ? t[this.frame] + this.part * (t[this.frame + 1] - t[this.frame]) : t[this.frame];
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }

  setFrame(frame: number): void {
    this.frame = Math.max(0, Math.min(this.run.count - 1, Math.round(frame)));
    this.part = 0;
    this.tell();
  }

  setTime(time: number): void {
    const t = this.run.t;
    const at = Math.max(this.start, Math.min(this.end, time));
    this.frame = lastAtMost(t, at);
    const length = this.frame + 1 < t.length ? t[this.frame + 1] - t[this.frame] : 0;
    this.part = length > 0 ? Math.max(0, Math.min(0.999999999, (at - t[this.frame]) / length)) : 0;
    this.tell();
  }

  play(on: boolean): void {
    if (on && this.frame === this.run.count - 1) this.setFrame(0);
    this.playing = on;
    this.last = 0;
    this.tell();
  }

  /** Called for every picture; now in ms. */
  tick(now: number): void {
    if (!this.playing) return;
    const passed = this.last > 0 ? Math.min(0.1, (now - this.last) / 1000) : 0;
    this.last = now;
    const next = this.time + passed * this.speed;
    if (next >= this.end) {
      this.playing = false;
      this.setFrame(this.run.count - 1);
    } else {
      this.setTime(next);
    }
  }

  /** The next or the previous event; the frame just after it. */
  jump(direction: 1 | -1): void {
    const events = this.run.need('event_t');
    if (events.length === 0) return;
    const now = this.time;
    const eps = 1e-12 * Math.max(1, Math.abs(now));
    let i = lastAtMost(events, now + eps);
    if (direction > 0) {
      i = events[i] > now + eps ? i : i + 1;
    } else {
      while (i >= 0 && events[i] >= now - eps) i--;
    }
    if (i >= 0 && i < events.length) this.setTime(events[i]);
  }
}
