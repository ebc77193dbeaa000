/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * frames.c - selects the shown states of a long recording: first those on both sides of events, then others evenly in
 * time. Forces of a shown frame are means and impulses sums over the frames that it represents.
 */
#include "report/document.h"

#include <assert.h>
#include <math.h>

/* The last frame at or before t. */
static long long frame_before(const saltus_recording_data* data, double t) {
  long long low = 0, high = data->count - 1;
  while (low < high) {
    long long middle = low + (high - low + 1) / 2;
    if (data->t[middle] <= t) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

/* Marks the frames beside an event: both sides of a jump and their neighbours. */
static void mark_event(const saltus_recording_data* data, double t, bool* keep) {
  const long long at = frame_before(data, t);
  long long first = at;
  while (first > 0 && data->t[first - 1] == data->t[at]) {
    first--;
  }
  first = data->t[at] == t && first == at && at > 0 ? at - 1 : first;
  for (long long i = first; i <= at + 1 && i < data->count; i++) {
    keep[i] = true;
  }
}

/* Adds frames evenly: the first frame of every time interval without one. */
static void fill(const saltus_recording_data* data, long long pieces, bool* keep) {
  const double start = data->t[0], span = data->t[data->count - 1] - start;
  long long last = -1;
  for (long long i = 0; i < data->count && span > 0.0; i++) {
    const double part = (data->t[i] - start) / span;
    if (!(part >= 0.0 && part <= 1.0)) {
      continue; /* not within this run */
    }
    const long long piece = (long long)(part * (double)pieces);
    if (piece != last && piece < pieces) {
      keep[i] = true;
    }
    last = piece;
  }
}

static long long count_kept(const saltus_recording_data* data, const bool* keep) {
  long long count = 0;
  for (long long i = 0; i < data->count; i++) {
    count += keep[i];
  }
  return count;
}

saltus_status saltusi_choose_frames(saltusi_document* d, double most) {
  assert(d != NULL && d->data->count > 0);
  const saltus_recording_data* data = d->data;
  bool* keep = SALTUSI_TAKE(&d->pool, bool, data->count);
  if (keep == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  const bool all = (double)data->count <= most;
  d->events_shown = true;
  keep[0] = keep[data->count - 1] = true;
  for (long long i = 0; i < data->event_count && !all; i++) {
    mark_event(data, data->events[i].t, keep);
  }
  long long count = all ? data->count : count_kept(data, keep);
  if (!all && (double)count > most) { /* more events than the capacity */
    for (long long i = 1; i < data->count - 1; i++) {
      keep[i] = false;
    }
    d->events_shown = false;
    count = 2;
  }
  if (!all) {
    fill(data, (long long)fmax(most - (double)count, 1.0), keep);
    count = count_kept(data, keep);
  }
  d->frames = SALTUSI_TAKE(&d->pool, long long, count);
  for (long long i = 0; d->frames != NULL && i < data->count; i++) {
    if (all || keep[i]) {
      d->frames[d->count++] = i;
    }
  }
  return d->frames != NULL ? SALTUS_OK : SALTUS_ERR_MEMORY;
}

long long saltusi_first_of(const saltusi_document* d, long long k) {
  assert(d != NULL && k >= 0 && k < d->count);
  return k > 0 ? d->frames[k - 1] + 1 : 0;
}
