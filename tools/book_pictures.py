# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Pictures of the validation book as SVG: sketches of problems from a few words, curves on logarithmic axes, and
the strip of all deviations."""
import html
import math

INK, SOFT, LINE, FILL = "#1f2933", "#616e7c", "#9aa5b1", "#e4ecf5"
COLOURS = ["#1f5fa8", "#c0392b", "#2e8b57", "#8e5ea2", "#d08770", "#00838f", "#795548", "#5b6b7b"]
FONT = "font-family='Inter, Helvetica, Arial, sans-serif'"


def text(x, y, words, size=12, anchor="middle", colour=INK, extra=""):
    return (f"<text x='{x:.2f}' y='{y:.2f}' {FONT} font-size='{size}' fill='{colour}' text-anchor='{anchor}' {extra}>"
            f"{html.escape(str(words))}</text>")


class Sketch:
    """Words of a sketch, in metres of its own, y upwards:
    floor Y X0 X1, wall X Y0 Y1 [left|right], ground X0 Y0 X1 Y1 (hatched on the right of the way), ball X Y R,
    box X Y W H [DEG], poly X Y X Y ..., rod X0 Y0 X1 Y1, spring X0 Y0 X1 Y1, pin X Y, dot X Y, line, dash X Y X Y ...,
    arrow X0 Y0 X1 Y1 [label], turn X Y R DEG0 DEG1 [label], text X Y words, note X Y words (small, grey)."""

    def __init__(self, words, width=300, height=200):
        self.shapes, self.points = [], []
        for line in words:
            name, *rest = line.split()
            getattr(self, "add_" + name)(rest)
        xs, ys = [p[0] for p in self.points], [p[1] for p in self.points]
        margin = 22
        self.scale = min((width - 2 * margin) / max(max(xs) - min(xs), 1e-9),
                         (height - 2 * margin) / max(max(ys) - min(ys), 1e-9))
        self.x0 = width / 2 - self.scale * (max(xs) + min(xs)) / 2
        self.y0 = height / 2 + self.scale * (max(ys) + min(ys)) / 2
        self.width, self.height = width, height

    def note_points(self, numbers):
        self.points += list(zip(numbers[0::2], numbers[1::2]))

    def add_floor(self, a):
        y, x0, x1 = map(float, a[:3])
        self.note_points([x0, y, x1, y - 0.06 * (x1 - x0)])
        self.shapes.append(("hatch", x0, y, x1, y))

    def add_wall(self, a):
        x, y0, y1 = map(float, a[:3])
        self.note_points([x, y0, x, y1])
        self.shapes.append(("hatch", x, y1, x, y0) if len(a) > 3 and a[3] == "left" else ("hatch", x, y0, x, y1))

    def add_ground(self, a):
        n = list(map(float, a[:4]))
        self.note_points(n)
        self.shapes.append(("hatch", *n))

    def add_ball(self, a):
        x, y, r = map(float, a[:3])
        self.note_points([x - r, y - r, x + r, y + r])
        self.shapes.append(("ball", x, y, r))

    def add_ring(self, a):
        x, y, r = map(float, a[:3])
        self.note_points([x - r, y - r, x + r, y + r])
        self.shapes.append(("ring", x, y, r))

    def add_box(self, a):
        x, y, w, h = map(float, a[:4])
        t = math.radians(float(a[4])) if len(a) > 4 else 0.0
        corners = []
        for i, j in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
            u, v = i * w / 2, j * h / 2
            corners += [x + u * math.cos(t) - v * math.sin(t), y + u * math.sin(t) + v * math.cos(t)]
        self.note_points(corners)
        self.shapes.append(("poly", corners))

    def add_poly(self, a):
        n = list(map(float, a))
        self.note_points(n)
        self.shapes.append(("poly", n))

    def add_rod(self, a):
        n = list(map(float, a[:4]))
        self.note_points(n)
        self.shapes.append(("rod", *n))

    def add_spring(self, a):
        n = list(map(float, a[:4]))
        self.note_points(n)
        self.shapes.append(("spring", *n))

    def add_line(self, a):
        n = list(map(float, a))
        self.note_points(n)
        self.shapes.append(("line", n, False))

    def add_dash(self, a):
        n = list(map(float, a))
        self.note_points(n)
        self.shapes.append(("line", n, True))

    def add_pin(self, a):
        n = list(map(float, a[:2]))
        self.note_points(n)
        self.shapes.append(("pin", *n))

    def add_dot(self, a):
        n = list(map(float, a[:2]))
        self.note_points(n)
        self.shapes.append(("dot", *n))

    def add_arrow(self, a):
        n = list(map(float, a[:4]))
        self.note_points(n)
        self.shapes.append(("arrow", *n, " ".join(a[4:])))

    def add_turn(self, a):
        x, y, r, b, e = map(float, a[:5])
        self.note_points([x + r * math.cos(math.radians(b)), y + r * math.sin(math.radians(b)),
                          x + r * math.cos(math.radians(e)), y + r * math.sin(math.radians(e))])
        self.shapes.append(("turn", x, y, r, b, e, " ".join(a[5:])))

    def add_text(self, a):
        self.note_points([float(a[0]), float(a[1])])
        self.shapes.append(("text", float(a[0]), float(a[1]), " ".join(a[2:]), 13, INK))

    def add_note(self, a):
        self.note_points([float(a[0]), float(a[1])])
        self.shapes.append(("text", float(a[0]), float(a[1]), " ".join(a[2:]), 11, SOFT))

    def inside(self, x, words, size):
        """The middle of a text that stays in the picture."""
        half = 0.29 * size * len(words) + 3
        return min(max(x, half), self.width - half)

    def at(self, x, y):
        return self.x0 + self.scale * x, self.y0 - self.scale * y

    def draw(self):
        out = [f"<svg xmlns='http://www.w3.org/2000/svg' width='{self.width}' height='{self.height}' "
               f"viewBox='0 0 {self.width} {self.height}'>",
               "<defs><marker id='tip' viewBox='0 0 8 8' refX='7' refY='4' markerWidth='7' markerHeight='7' "
               f"orient='auto-start-reverse'><path d='M0,0 L8,4 L0,8 z' fill='{COLOURS[1]}'/></marker></defs>",
               f"<rect width='100%' height='100%' fill='white'/>"]
        for shape in self.shapes:
            out.append(getattr(self, "draw_" + shape[0])(*shape[1:]))
        return "\n".join(out + ["</svg>\n"])

    def draw_hatch(self, ax, ay, bx, by):
        (x0, y0), (x1, y1) = self.at(ax, ay), self.at(bx, by)
        n = math.hypot(x1 - x0, y1 - y0)
        dx, dy = (x1 - x0) / n, (y1 - y0) / n
        lines = []
        for i in range(int(n // 7) + 1):
            px, py = x0 + dx * 7 * i, y0 + dy * 7 * i
            lines.append(f"M{px:.1f},{py:.1f} l{-dy * 7 - dx * 5:.1f},{dx * 7 - dy * 5:.1f}")
        return (f"<path d='{' '.join(lines)}' stroke='{LINE}' stroke-width='1' fill='none'/>"
                f"<line x1='{x0:.1f}' y1='{y0:.1f}' x2='{x1:.1f}' y2='{y1:.1f}' stroke='{INK}' stroke-width='1.6'/>")

    def draw_ball(self, x, y, r):
        px, py = self.at(x, y)
        return f"<circle cx='{px:.1f}' cy='{py:.1f}' r='{max(2.5, r * self.scale):.1f}' fill='{FILL}' stroke='{INK}' stroke-width='1.4'/>"

    def draw_ring(self, x, y, r):
        px, py = self.at(x, y)
        return f"<circle cx='{px:.1f}' cy='{py:.1f}' r='{r * self.scale:.1f}' fill='none' stroke='{INK}' stroke-width='1.4'/>"

    def draw_poly(self, n):
        points = " ".join("%.1f,%.1f" % self.at(x, y) for x, y in zip(n[0::2], n[1::2]))
        return f"<polygon points='{points}' fill='{FILL}' stroke='{INK}' stroke-width='1.4' stroke-linejoin='round'/>"

    def draw_rod(self, ax, ay, bx, by):
        (x0, y0), (x1, y1) = self.at(ax, ay), self.at(bx, by)
        return (f"<line x1='{x0:.1f}' y1='{y0:.1f}' x2='{x1:.1f}' y2='{y1:.1f}' stroke='{INK}' stroke-width='5' stroke-linecap='round'/>"
                f"<line x1='{x0:.1f}' y1='{y0:.1f}' x2='{x1:.1f}' y2='{y1:.1f}' stroke='{FILL}' stroke-width='2.4' stroke-linecap='round'/>")

    def draw_spring(self, ax, ay, bx, by):
        (x0, y0), (x1, y1) = self.at(ax, ay), self.at(bx, by)
        n = math.hypot(x1 - x0, y1 - y0)
        dx, dy = (x1 - x0) / n, (y1 - y0) / n
        way = [f"M{x0:.1f},{y0:.1f}"]
        for i in range(1, 12):
            s = 0 if i in (1, 11) else (5 if i % 2 else -5)
            way.append(f"L{x0 + dx * n * i / 12 - dy * s:.1f},{y0 + dy * n * i / 12 + dx * s:.1f}")
        way.append(f"L{x1:.1f},{y1:.1f}")
        return f"<path d='{' '.join(way)}' fill='none' stroke='{COLOURS[0]}' stroke-width='1.4'/>"

    def draw_line(self, n, dashed):
        points = " ".join("%.1f,%.1f" % self.at(x, y) for x, y in zip(n[0::2], n[1::2]))
        style = f"stroke='{SOFT}' stroke-dasharray='4 3' stroke-width='1'" if dashed else f"stroke='{INK}' stroke-width='1.4'"
        return f"<polyline points='{points}' fill='none' {style}/>"

    def draw_pin(self, x, y):
        px, py = self.at(x, y)
        return f"<circle cx='{px:.1f}' cy='{py:.1f}' r='4' fill='white' stroke='{INK}' stroke-width='1.6'/>"

    def draw_dot(self, x, y):
        px, py = self.at(x, y)
        return f"<circle cx='{px:.1f}' cy='{py:.1f}' r='2.4' fill='{INK}'/>"

    def draw_arrow(self, ax, ay, bx, by, label):
        (x0, y0), (x1, y1) = self.at(ax, ay), self.at(bx, by)
        n = max(math.hypot(x1 - x0, y1 - y0), 1e-9)
        ox, oy = -(y1 - y0) / n * 11, (x1 - x0) / n * 11
        words = text(self.inside(x1 + ox + (x1 - x0) / n * 4, label, 12), y1 + oy + 4 + (y1 - y0) / n * 4, label, 12, colour=COLOURS[1]) if label else ""
        return (f"<line x1='{x0:.1f}' y1='{y0:.1f}' x2='{x1:.1f}' y2='{y1:.1f}' stroke='{COLOURS[1]}' stroke-width='1.6' "
                f"marker-end='url(#tip)'/>{words}")

    def draw_turn(self, x, y, r, b, e, label):
        p0 = self.at(x + r * math.cos(math.radians(b)), y + r * math.sin(math.radians(b)))
        p1 = self.at(x + r * math.cos(math.radians(e)), y + r * math.sin(math.radians(e)))
        large, sweep, k = int(abs(e - b) > 180), int(e < b), r * self.scale
        mid = math.radians((b + e) / 2)
        lx, ly = self.at(x + (r + 12 / self.scale) * math.cos(mid), y + (r + 12 / self.scale) * math.sin(mid))
        return (f"<path d='M{p0[0]:.1f},{p0[1]:.1f} A{k:.1f},{k:.1f} 0 {large} {sweep} {p1[0]:.1f},{p1[1]:.1f}' fill='none' "
                f"stroke='{COLOURS[1]}' stroke-width='1.6' marker-end='url(#tip)'/>"
                + (text(self.inside(lx, label, 12), ly + 4, label, 12, colour=COLOURS[1]) if label else ""))

    def draw_text(self, x, y, words, size, colour):
        px, py = self.at(x, y)
        return text(self.inside(px, words, size), py + 4, words, size, colour=colour)


def decades(low, high):
    first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
    return first, max(last, first + 1)


def logarithmic(curves, xlabel, ylabel, title="", width=620, height=380):
    """Curves as {name: [(x, y), ...]} on logarithmic axes; values that are no positive number are left out."""
    curves = {k: [(x, y) for x, y in v if x and y and x > 0 and y > 0 and math.isfinite(y)] for k, v in curves.items()}
    curves = {k: v for k, v in curves.items() if v}
    if not curves:
        return None
    xs = [x for v in curves.values() for x, _ in v]
    ys = [y for v in curves.values() for _, y in v]
    (a0, a1), (b0, b1) = decades(min(xs), max(xs)), decades(max(min(ys), 1e-17), max(ys))
    left, right, top, bottom = 62, 220, 34, 48
    w, h = width - left - right, height - top - bottom

    def px(x):
        return left + w * (math.log10(x) - a0) / (a1 - a0)

    def py(y):
        return top + h * (b1 - math.log10(max(y, 1e-17))) / (b1 - b0)

    out = [f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' viewBox='0 0 {width} {height}'>",
           "<rect width='100%' height='100%' fill='white'/>", text(left, 20, title, 14, "start", extra="font-weight='600'")]
    for d in range(a0, a1 + 1):
        x = px(10.0 ** d)
        out.append(f"<line x1='{x:.1f}' y1='{top}' x2='{x:.1f}' y2='{top + h}' stroke='#e4e7eb'/>")
        if (a1 - a0) <= 8 or (d - a0) % 2 == 0:
            out.append(text(x, top + h + 16, power(d), 11, colour=SOFT))
    for d in range(b0, b1 + 1):
        y = py(10.0 ** d)
        out.append(f"<line x1='{left}' y1='{y:.1f}' x2='{left + w}' y2='{y:.1f}' stroke='#e4e7eb'/>")
        if (b1 - b0) <= 10 or (d - b0) % 2 == 0:
            out.append(text(left - 7, y + 4, power(d), 11, "end", SOFT))
    out.append(text(left + w / 2, height - 10, xlabel, 12))
    out.append(text(0, 0, ylabel, 12, extra=f"transform='translate(15 {top + h / 2:.0f}) rotate(-90)'"))
    for i, (name, points) in enumerate(curves.items()):
        colour = COLOURS[i % len(COLOURS)]
        way = " ".join(f"{px(x):.1f},{py(y):.1f}" for x, y in points)
        out.append(f"<polyline points='{way}' fill='none' stroke='{colour}' stroke-width='1.8'/>")
        out += [f"<circle cx='{px(x):.1f}' cy='{py(y):.1f}' r='3' fill='{colour}'/>" for x, y in points]
        out.append(f"<line x1='{left + w + 14}' y1='{top + 10 + 20 * i}' x2='{left + w + 34}' y2='{top + 10 + 20 * i}' stroke='{colour}' stroke-width='2'/>")
        out.append(text(left + w + 40, top + 14 + 20 * i, name, 12, "start"))
    return "\n".join(out + ["</svg>\n"])


def power(d):
    return "10" + "".join("⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".index(c)] for c in str(d)) if d not in (0, 1) else str(10 ** d)


def strip(chapters, width=760, row=22):
    """All deviations relative to their limits, a row for each chapter: {title: [(ratio, holds), ...]}."""
    left, right, top = 270, 20, 26
    height = top + row * len(chapters) + 34
    w, low = width - left - right, -8

    def px(ratio):
        return left + w * (math.log10(min(max(ratio, 10.0 ** low), 30)) - low) / (1.5 - low)

    out = [f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' viewBox='0 0 {width} {height}'>",
           "<rect width='100%' height='100%' fill='white'/>"]
    for d in range(low, 2):
        x = px(10.0 ** d)
        out.append(f"<line x1='{x:.1f}' y1='{top - 4}' x2='{x:.1f}' y2='{top + row * len(chapters)}' "
                   f"stroke='{COLOURS[1] if d == 0 else '#e4e7eb'}' stroke-width='{1.6 if d == 0 else 1}'/>")
        out.append(text(x, height - 18, ("≤" if d == low else "") + power(d), 11, colour=SOFT))
    out.append(text(px(1.0), 14, "limit", 12, colour=COLOURS[1]))
    out.append(text(left + w / 2, height - 3, "deviation from the accepted number, relative to its limit", 11, colour=SOFT))
    for i, (title, ratios) in enumerate(chapters.items()):
        y = top + row * (i + 0.5)
        out.append(text(left - 10, y + 4, title, 12, "end"))
        out += [f"<circle cx='{px(r):.1f}' cy='{y:.1f}' r='3.2' fill='{COLOURS[0] if ok else COLOURS[1]}' fill-opacity='0.45'/>"
                for r, ok in ratios]
    return "\n".join(out + ["</svg>\n"])
