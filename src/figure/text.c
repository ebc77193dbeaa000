/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 */
#include "figure/text.h"

#include "base/visible.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

/* A run of text on one level. */
typedef struct text_run {
  char text[256];
  int level; /* +1 raised, -1 lowered */
} text_run;

static const double SMALL = 0.7;   /* size of raised and lowered text */
static const double RAISE = 0.36;  /* of the size */
static const double LOWER = -0.16; /* of the size */

void saltusi_text_setup(cairo_t* cairo) {
  assert(cairo != NULL);
  cairo_font_options_t* options = cairo_font_options_create();
  cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
  cairo_set_font_options(cairo, options);
  cairo_font_options_destroy(options);
}

double saltusi_text_leading(double size) {
  return 1.3 * size;
}

double saltusi_text_capital(double size) {
  return 0.73 * size;
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/* Bytes of the character at s, 0 if it cannot be drawn: cairo rejects the whole drawing for one invalid byte, and
 * scene files can contain any byte. */
static int character_bytes(const char* s) {
  return (int)saltusi_visible(s, strnlen(s, 4));
}

/* The level that starts at s, and its end: a closing brace, or the end of the digits. */
static int level_at(const char* s, bool* braced) {
  *braced = s[0] != '\0' && s[1] == '{' && strchr(s, '}') != NULL;
  if (s[0] == '^') {
    bool number = is_digit(s[1]) || (s[1] == '-' && is_digit(s[2]));
    return *braced || number ? 1 : 0;
  }
  return s[0] == '_' && *braced ? -1 : 0;
}

/* Appends the character at s, a question mark for a bad byte, a true minus for a raised hyphen.
 * Returns the bytes read. */
static int append(text_run* r, size_t* used, const char* s) {
  int bytes = character_bytes(s);
  const char* from = bytes == 0 ? "?" : s;
  size_t length = from == s ? (size_t)bytes : 1;
  if (r->level > 0 && s[0] == '-') {
    from = "\xe2\x88\x92";
    length = 3;
  }
  memcpy(r->text + *used, from, length);
  *used += length;
  return bytes == 0 ? 1 : bytes;
}

/* Reads the next run; returns where the one after starts. */
static const char* read_run(const char* s, const char* end, text_run* r) {
  bool braced = false;
  size_t used = 0;
  r->level = level_at(s, &braced);
  if (r->level != 0) {
    s += braced ? 2 : 1;
  }
  for (bool first = true; s < end && used + 5 < sizeof r->text; first = false) {
    bool ignored;
    if (r->level == 0 && level_at(s, &ignored) != 0) {
      break;
    }
    if (r->level != 0 && braced && *s == '}') {
      s++;
      break;
    }
    if (r->level != 0 && !braced && !is_digit(*s) && !(first && *s == '-')) {
      break;
    }
    s += append(r, &used, s);
  }
  r->text[used] = '\0';
  return s;
}

/* Measures the text from s to end; draws it at the origin of the current transformation if requested. */
static double walk(cairo_t* cairo, const char* s, const char* end, const saltusi_text_style* style,
                   bool draw) {
  double x = 0.0;
  text_run r;
  cairo_select_font_face(cairo, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
                         style->bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  while (s < end) {
    s = read_run(s, end, &r);
    double shift = r.level > 0 ? RAISE : r.level < 0 ? LOWER : 0.0;
    cairo_text_extents_t extents;
    cairo_set_font_size(cairo, style->size * (r.level != 0 ? SMALL : 1.0));
    cairo_text_extents(cairo, r.text, &extents);
    if (draw) {
      cairo_move_to(cairo, x, -shift * style->size);
      cairo_show_text(cairo, r.text);
    }
    x += extents.x_advance;
  }
  return x;
}

static double part_width(cairo_t* cairo, const char* s, const char* end,
                         const saltusi_text_style* style) {
  return walk(cairo, s, end, style, false);
}

double saltusi_text_width(cairo_t* cairo, const char* text, double size, bool bold) {
  assert(cairo != NULL);
  saltusi_text_style style = {.size = size, .bold = bold};
  return text == NULL ? 0.0 : part_width(cairo, text, text + strlen(text), &style);
}

static void draw_part(cairo_t* cairo, double x, double y, const char* s, const char* end,
                      saltusi_text_style style) {
  double width = part_width(cairo, s, end, &style);
  if (style.room > 0.0 && width > style.room) {
    style.size *= style.room / width;
    width = style.room;
  }
  cairo_save(cairo);
  cairo_translate(cairo, x, y);
  cairo_rotate(cairo, -style.angle);
  cairo_translate(cairo, -style.align * width, 0.0);
  cairo_set_source_rgb(cairo, style.grey, style.grey, style.grey);
  walk(cairo, s, end, &style, true);
  cairo_new_path(cairo);
  cairo_restore(cairo);
}

void saltusi_text_draw(cairo_t* cairo, double x, double y, const char* text,
                       saltusi_text_style style) {
  assert(cairo != NULL);
  if (text != NULL) {
    draw_part(cairo, x, y, text, text + strlen(text), style);
  }
}

int saltusi_text_lines(cairo_t* cairo, double x, double y, const char* text,
                       saltusi_text_style style, bool draw) {
  assert(cairo != NULL);
  int lines = 0;
  while (text != NULL && *text != '\0') {
    /* the longest part that fits, at least one word */
    const char* end = text + strcspn(text, " ");
    while (*end != '\0') {
      const char* next = end + 1 + strcspn(end + 1, " ");
      if (part_width(cairo, text, next, &style) > style.room) {
        break;
      }
      end = next;
    }
    if (draw) {
      draw_part(cairo, x, y + lines * saltusi_text_leading(style.size), text, end, style);
    }
    lines++;
    text = *end == '\0' ? end : end + 1;
  }
  return lines;
}

void saltusi_text_plain(const char* text, char* plain, size_t bytes) {
  assert(plain != NULL);
  const char* end = text == NULL ? NULL : text + strlen(text);
  size_t used = 0;
  text_run r;
  for (const char* s = text; s < end;) {
    s = read_run(s, end, &r);
    size_t length = strlen(r.text);
    if (used + length >= bytes) {
      break;
    }
    memcpy(plain + used, r.text, length);
    used += length;
  }
  plain[used] = '\0';
}
