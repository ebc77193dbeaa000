#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Builds the validation book: runs every entry of book/*.toml with build/saltus, compares with the accepted
numbers, and writes Markdown, figures and book.json. Exit code 1 when a claim fails. docs/book.md says how to add
an entry."""
import argparse
import concurrent.futures
import datetime
import json
import math
import os
import pathlib
import platform
import re
import signal
import subprocess
import sys
import threading
import time
import tomllib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import book_math
import book_pictures

ROOT = pathlib.Path(__file__).resolve().parent.parent
SECONDS = 300  # of processor time: a run that takes more has failed
DEFAULT_TOL = 1e-8
DEFAULT_REASON = {
    "tol": "errors of steps below the tolerance add up; ten of them are allowed, relative to numbers above 1",
    "radau-iia-5": "order five, kept through events",
}
DEFAULT_LIMIT = {"tol": "10*tol*max(1, abs(accepted))", "radau-iia-5": "1e3*h**5*max(1, abs(accepted))"}
FIRST_ORDER = ("moreau-jean", "dg-minus", "dg-plus", "moreau-midpoint", "moreau-jean-projected", "schatzman-paoli", "variational",
               "rattle", "splitting-rkf45-contact", "trapezoidal-implicit-mean", "trapezoidal-implicit-end")
FIRST_LIMIT, FIRST_REASON = "5*h*max(1, abs(accepted))", "order one: impacts and stops act at the end of the step that they fall into"
MEASURED_REASON = ", at most five times the error when the entry was written"
OTHER_LIMIT, OTHER_REASON = "h**2*max(1, abs(accepted))", "order two or more, events located"


class Missing(Exception):
    """A run does not have what a number asks for."""


class Run:
    """What formulas of numbers see of one run."""

    def __init__(self, summary, events):
        self.summary, self.list = summary, events

    def names(self):
        def q(name):
            return self.pick("q", name)

        def v(name):
            return self.pick("v", name if name.endswith("'") else name + "'")

        def out(name):
            return self.pick("outputs", name)

        def event(kind, number=1, contact=None):
            found = [e for e in self.list if e["kind"] == kind and (contact is None or e["contact_name"] == contact)]
            if number < 0:
                number += len(found) + 1
            if not 1 <= number <= len(found):
                raise Missing(f"{kind} {number}" + (f" of {contact}" if contact else ""))
            return Event(found[number - 1])

        def instants(kind, apart=1e-9):
            """Times of events of a kind, several contacts at once counted once."""
            times = sorted(e["t"] for e in self.list if e["kind"] == kind)
            return [t for i, t in enumerate(times) if i == 0 or t - times[i - 1] > apart]

        def instant(kind, number, apart=1e-9):
            times = instants(kind, apart)
            if not 1 <= number <= len(times):
                raise Missing(f"{kind} {number}")
            return times[number - 1]

        def count(kind):
            return self.summary["events"][kind]

        def ledger(name):
            return self.summary["ledger"][name]

        return dict(q=q, v=v, out=out, event=event, count=count, ledger=ledger, instant=instant, instants=instants,
                    t_inf=lambda: self.value(self.summary["last_accumulation"], "accumulation"), run=self.summary,
                    energy=lambda: self.summary["energy"]["end"], events=self.list)

    def pick(self, group, name):
        if name not in self.summary[group]:
            raise Missing(f"{group} {name} (there are {', '.join(self.summary[group])})")
        value = self.summary[group][name]
        return self.value(value["value"] if isinstance(value, dict) else value, name)

    @staticmethod
    def value(value, name):
        if value is None:
            raise Missing(name)
        return value


class Event:
    def __init__(self, fields):
        self.__dict__.update(fields)


def evaluate(formula, known):
    return eval(compile(formula, "<book>", "eval"), {"__builtins__": {}, **known}, {})  # noqa: S307, own data


def call(arguments, seconds=SECONDS):
    """Runs the program; (exit code, output, errors)."""
    # processor time: by the clock runs would fail on a machine that is busy
    limited = ["sh", "-c", f'ulimit -t {seconds}; exec "$@"', "sh", *arguments]
    done = subprocess.run(limited, capture_output=True, text=True, cwd=ROOT)
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return 124, "", f"took more than {seconds} s"
    return done.returncode, done.stdout, done.stderr


def short(number, digits=3):
    if number is None:
        return "–"
    if isinstance(number, float) and math.isnan(number):
        return "nan"
    return f"{number:.{digits}g}"


def full(number):
    """A number with thirteen digits."""
    return str(number) if isinstance(number, int) else f"{number:.13g}"


class Task:
    """One call of the program: an entry with a scheme, or a study."""

    def __init__(self, entry, scheme, step):
        self.entry, self.scheme, self.step = entry, scheme, step
        self.result = {}

    def name(self):
        return f"{self.entry['id']} {self.scheme}"


class Book:
    def __init__(self, options):
        self.options = options
        self.program = str(pathlib.Path(options.program).resolve())
        self.out = pathlib.Path(options.output).resolve()
        self.figures, self.work = self.out / "figures", self.out / "runs"
        for folder in (self.out, self.figures, self.work):
            folder.mkdir(parents=True, exist_ok=True)
        self.failures, self.lock, self.names = [], threading.RLock(), {}
        self.remarks = []
        self.sketches = {}
        self.chapters = self.read()
        limits = pathlib.Path(options.chapters) / "limits.json"
        self.measured = json.loads(limits.read_text()) if limits.exists() else {}

    # Reading

    def read(self):
        chapters = []
        for path in sorted(pathlib.Path(self.options.chapters).glob("*.toml")):
            with open(path, "rb") as file:
                data = tomllib.load(file)
            self.sketches.update(data.get("sketches", {}))
            if "title" not in data:
                continue
            data["file"] = path.stem
            for entry in data.get("entry", []):
                entry["chapter"] = data
                for key in ("id", "title", "text"):
                    if key not in entry:
                        raise SystemExit(f"{path}: an entry without {key}: {entry.get('id')}")
                for number in entry.get("number", []):
                    for key in ("name", "of", "accepted", "source"):
                        if key not in number:
                            raise SystemExit(f"{path}: {entry['id']}: a number without {key}")
            if self.options.only:
                keep = set(self.options.only.split(","))
                data["entry"] = [e for e in data.get("entry", []) if e["id"] in keep]
                if not data["entry"]:
                    continue
            chapters.append(data)
        seen = set()
        for chapter in chapters:
            for entry in chapter.get("entry", []):
                if entry["id"] in seen:
                    raise SystemExit(f"two entries {entry['id']}")
                seen.add(entry["id"])
        return chapters

    def tasks(self):
        made = []
        for chapter in self.chapters:
            for entry in chapter.get("entry", []):
                if "study" in entry:
                    made.append(Task(entry, "study", None))
                    continue
                if "orders" in entry:
                    made += [Task(entry, scheme, "order") for scheme in entry["orders"]["schemes"]]
                    continue
                if "scene" not in entry and "model" not in entry:
                    continue
                if entry.get("tol", True):
                    made.append(Task(entry, "tol", entry.get("tol", chapter.get("tol", DEFAULT_TOL))))
                for scheme, step in entry.get("schemes", chapter.get("schemes", {})).items():
                    made.append(Task(entry, scheme, step))
                for scheme, sizes in entry.get("precision", {}).items():
                    for size in sizes:
                        made.append(Task(entry, scheme, ("precision", size)))
        return made

    # Running

    def run_all(self):
        tasks = self.tasks()
        for entry in (e for c in self.chapters for e in c.get("entry", []) if "model" in e):
            pathlib.Path(self.model(entry)).write_text(entry["model"])
        weights = self.weights()
        total = sum(weights.get(t.name(), 0.3) for t in tasks)
        done, begin = 0.0, time.time()
        # long ones first, so that none is left alone at the end
        order = sorted(tasks, key=lambda t: -weights.get(t.name(), 0.3))
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            waiting = {pool.submit(self.run_one, t): t for t in order}
            for i, future in enumerate(concurrent.futures.as_completed(waiting), 1):
                future.result()
                done += weights.get(waiting[future].name(), 0.3)
                spent = time.time() - begin
                if sys.stderr.isatty() or i % 50 == 0 or i == len(tasks):
                    left = spent * (total - done) / done if done else 0
                    end = "" if sys.stderr.isatty() else "\n"
                    print(f"\r{i} of {len(tasks)} runs, {spent:.0f} s, about {left:.0f} s left   ", end=end, file=sys.stderr)
        if sys.stderr.isatty():
            print(file=sys.stderr)
        self.seconds = time.time() - begin
        self.costs = {t.name(): t.result.get("seconds", 0.3) for t in tasks}
        return tasks

    def weights(self):
        """Seconds that the last build took for each run, to say how long it takes."""
        try:
            return json.loads((self.out / "costs.json").read_text())
        except (OSError, ValueError):
            return {}

    def run_one(self, task):
        begin = time.time()
        if task.scheme == "study":
            self.run_study(task)
        elif task.step == "order":
            self.run_order(task)
        else:
            self.run_scene(task)
        task.result["seconds"] = time.time() - begin

    def fail(self, entry, words):
        with self.lock:
            self.failures.append((entry["chapter"]["file"], entry["id"], words))

    def model(self, entry):
        if "scene" in entry:
            return str(ROOT / entry["scene"])
        return str(self.work / f"{entry['id']}.yaml")

    def run_scene(self, task):
        entry = task.entry
        precise = isinstance(task.step, tuple)
        size = task.step[1] if precise else task.step
        stem = self.work / f"{entry['id']}.{task.scheme}{'.%g' % size if precise else ''}"
        recording, events = stem.with_name(stem.name + ".h5"), stem.with_name(stem.name + ".events.json")
        arguments = [self.program, "run", self.model(entry), "--json", "--force", "--events", str(events)]
        if not precise:
            arguments += ["-o", str(recording), "--every", "1"]
        arguments += ["--tol", repr(size)] if task.scheme == "tol" else ["--scheme", task.scheme, "--step", repr(size)]
        if task.scheme != "tol":
            for name, value in entry.get("options", {}).get(task.scheme, {}).items():
                arguments += ["--option", f"{name}={value}"]
        if "until" in entry:
            arguments += ["--until", repr(float(evaluate(str(entry["until"]), self.known(entry))))]
        for name, value in entry.get("set", {}).items():
            arguments += ["--set", f"{name}={value}"]
        code, output, errors = call(arguments)
        task.result["command"] = " ".join(
            ("saltus" if a == self.program else a.replace(str(ROOT) + "/", "")) for a in arguments)
        refused = entry.get("refuses", {}).get(task.scheme)
        if code == 0 and refused:
            self.fail(entry, f"{task.scheme}: the run is done although the entry says that it cannot be: {refused}")
        if code != 0:
            task.result["failure"] = errors.strip().splitlines()[0] if errors.strip() else f"exit code {code}"
            if refused and code == 1:
                return
            self.fail(entry, f"{task.scheme}: the run fails: {task.result['failure']}")
            return
        task.result["summary"] = json.loads(output)
        task.result["events"] = json.loads(events.read_text())
        if not precise:
            self.certify(task, recording)
            if task.scheme == "tol" and "plot" in entry:
                self.plot(entry, arguments, task.result["summary"]["t"])
            recording.unlink(missing_ok=True)
        events.unlink(missing_ok=True)

    def certify(self, task, recording):
        code, output, errors = call([self.program, "verify", str(recording), "--json"])
        try:
            certificate = json.loads(output)
        except ValueError:
            self.fail(task.entry, f"{task.scheme}: verify says {errors.strip() or code}")
            return
        items = [i for i in certificate["items"] if i["checked"]]
        bad = [i for i in items if not i["passed"]]
        task.result["certificate"] = {"passed": certificate["passed"], "items": len(items),
                                      "failed": [i["name"] for i in bad]}
        excused = task.entry.get("uncertified", {}).get(task.scheme)
        if not certificate["passed"] and not excused:
            self.fail(task.entry, f"{task.scheme}: the certificate fails: " + ", ".join(
                f"{i['name']} {short(i['value'])} of {short(i['limit'])} {i['unit']}" for i in bad))
        if certificate["passed"] and excused:
            with self.lock:
                self.remarks.append(f"{task.entry['id']}: {task.scheme}: is certified although the entry excuses it")

    def plot(self, entry, arguments, until):
        """The motion, from a run with frames that are close enough for a curve."""
        recording, series = self.work / f"{entry['id']}.plot.h5", entry["plot"]
        skip, again = {"--json", "--every", "1"}, []
        for i, word in enumerate(arguments):
            if word not in skip and (i == 0 or arguments[i - 1] not in ("--events", "-o")) and word not in ("--events", "-o"):
                again.append(word)
        code, _, errors = call(again + ["-o", str(recording), "--output-dt", repr(until / 600)])
        if code == 0:
            target = ["--force", "-o", str(self.figures / f"{entry['id']}.svg")]
            target += ["--phase", series["phase"]] if isinstance(series, dict) else ["--series", ",".join(series)]
            code, _, errors = call([self.program, "plot", str(recording)] + target)
        recording.unlink(missing_ok=True)
        if code != 0:
            self.fail(entry, f"plot: {errors.strip()}")

    def run_study(self, task):
        entry = task.entry
        report = self.work / f"{entry['id']}.json"
        arguments = [self.program, "study", entry["study"], "--force", "--report", str(report)]
        if entry.get("figure", True):
            arguments += ["-o", str(self.figures / f"{entry['id']}.svg")]
        code, _, errors = call(arguments, 4 * SECONDS)
        try:
            task.result["report"] = json.loads(report.read_text())
        except (OSError, ValueError):
            self.fail(entry, f"the study fails: {errors.strip() or code}")
            return
        report.unlink()
        for claim in task.result["report"]["claims"]:
            if not claim["holds"]:
                self.fail(entry, f"{claim['id']}: {claim['measured']}, expected {claim['expected']}")
        if code != 0 and all(c["holds"] for c in task.result["report"]["claims"]):
            self.fail(entry, f"the study ends with exit code {code}: {errors.strip()}")

    def run_order(self, task):
        entry, orders = task.entry, task.entry["orders"]
        arguments = [self.program, "study", "converge", str(ROOT / orders["model"]) if "/" in orders["model"] else orders["model"],
                     "--scheme", task.scheme, "--json"]
        for key in ("steps", "until", "reference"):
            if key in orders:
                arguments += ["--" + key, str(orders[key])]
        for name, value in orders.get("options", {}).get(task.scheme, {}).items():
            arguments += ["--option", f"{name}={value}"]
        code, output, errors = call(arguments)
        try:
            task.result["report"] = json.loads(output)
        except ValueError:
            self.fail(entry, f"{task.scheme}: converge fails: {errors.strip() or code}")

    # Comparing

    def known(self, entry):
        """Names that formulas of an entry may use: functions, and what its `python` and `let` define."""
        with self.lock:
            if entry["id"] not in self.names:
                self.names[entry["id"]] = self.define(entry)
            return dict(self.names[entry["id"]])

    @staticmethod
    def define(entry):
        known = book_math.names()
        if "python" in entry:
            exec(compile(entry["python"], f"<{entry['id']}>", "exec"), known)  # noqa: S102, own data
        for name, formula in entry.get("let", {}).items():
            known[name] = evaluate(formula, known) if isinstance(formula, str) else formula
        return known

    def limit(self, entry, number, task, accepted):
        """(limit, reason) of a number for a scheme; an entry or a number may say its own."""
        scheme, h = task.scheme, task.step
        for place in (number, entry, entry["chapter"]):
            given = place.get("limit", {})
            if scheme in given:
                formula = given[scheme]
                reason = place.get("reason", {}).get(scheme, DEFAULT_REASON.get(scheme, FIRST_REASON if scheme in FIRST_ORDER else OTHER_REASON))
                break
        else:
            first = scheme in FIRST_ORDER
            formula = DEFAULT_LIMIT.get(scheme, FIRST_LIMIT if first else OTHER_LIMIT)
            reason = DEFAULT_REASON.get(scheme, FIRST_REASON if first else OTHER_REASON)
        known = {**self.known(entry), "tol": h, "h": h, "accepted": accepted}
        ceiling = abs(evaluate(str(formula), known))
        if ceiling > 0:  # no limit below rounding, but one of 0 is meant
            ceiling = max(ceiling, 1e-13 * max(1.0, abs(accepted)))
        measured = self.measured.get(f"{entry['id']}/{number['name']}/{scheme}")
        if measured is None or scheme == "tol" or self.options.measure or measured["h"] != h:
            return ceiling, reason
        return min(ceiling, measured["limit"]), reason + MEASURED_REASON

    def compare(self, entry, tasks):
        """Rows of an entry: each number with what every scheme makes of it."""
        rows = []
        known = self.known(entry)
        for number in entry.get("number", []):
            accepted = evaluate(str(number["accepted"]), known)
            accepted = accepted if isinstance(accepted, int) else float(accepted)
            row = {"name": number["name"], "unit": number.get("unit", ""), "accepted": accepted,
                   "source": number["source"], "formula": number.get("formula", ""), "runs": []}
            for task in tasks:
                if isinstance(task.step, tuple) or "summary" not in task.result:
                    continue
                if "only" in number and task.scheme not in number["only"]:
                    continue
                row["runs"].append(self.judge(entry, number, task, accepted, known))
            rows.append(row)
        return rows

    def judge(self, entry, number, task, accepted, known):
        seen = {**known, **Run(task.result["summary"], task.result["events"]).names()}
        cell = {"scheme": task.scheme, "size": task.step, "value": None, "error": None, "ratio": math.inf, "holds": False}
        cell["limit"], cell["reason"] = self.limit(entry, number, task, accepted)
        try:
            cell["value"] = evaluate(number["of"], seen)
            cell["error"] = abs(cell["value"] - accepted)
            cell["ratio"] = cell["error"] / cell["limit"] if cell["limit"] > 0 else (0.0 if cell["error"] == 0 else math.inf)
            cell["holds"] = cell["error"] <= cell["limit"]
        except Missing as missing:
            self.fail(entry, f"{number['name']}, {task.scheme}: the run has no {missing}")
            return cell
        if not cell["holds"]:
            self.fail(entry, f"{number['name']}, {task.scheme}: {cell['value']:.12g}, accepted {accepted:.12g}, "
                             f"error {cell['error']:.3g} above {cell['limit']:.3g}")
        return cell

    def claims(self, entry, task):
        """Rows of a study: claims that compare with a number, and how near to their limit they are."""
        rows = []
        for claim in task.result.get("report", {}).get("claims", []):
            row = {"id": claim["id"], "measured": claim["measured"], "expected": claim["expected"], "holds": claim["holds"],
                   "accepted": claim["accepted"], "ratio": self.claim_ratio(claim)}
            rows.append(row)
        return rows

    @staticmethod
    def claim_ratio(claim):
        """Deviation over limit, from the accepted number, or of an error from 0; ranges and counts have none."""
        measured, least, most, accepted = (claim[k] for k in ("measured", "least", "most", "accepted"))
        if not claim["number"] or measured is None or most is None or (accepted is None and least is not None):
            return None
        deviation = max(measured, 0.0) if accepted is None else abs(measured - accepted)
        limit = most - (accepted or 0.0)
        return deviation / limit if limit > 0 else (0.0 if claim["holds"] else 10.0)

    # Writing

    def write(self, tasks):
        by_entry = {}
        for task in tasks:
            by_entry.setdefault(task.entry["id"], []).append(task)
        results = []
        for i, chapter in enumerate(self.chapters, 1):
            lines = [f"# {i}. {chapter['title']}", "", chapter.get("text", "").strip(), ""]
            found = {"file": chapter["file"], "title": chapter["title"], "entries": []}
            for j, entry in enumerate(chapter.get("entry", []), 1):
                result = self.write_entry(lines, f"{i}.{j}", entry, by_entry.get(entry["id"], []))
                if result:
                    found["entries"].append(result)
            lines += ["---", "", "[Contents](index.md)", ""]
            (self.out / f"{chapter['file']}.md").write_text("\n".join(lines))
            results.append(found)
        return results

    def write_entry(self, lines, number, entry, tasks):
        lines += [f"## {number} {entry['title']} {{#{entry['id']}}}", "", entry["text"].strip(), ""]
        sketch = entry.get("sketch")
        if sketch:
            words = self.sketches[sketch] if isinstance(sketch, str) else sketch
            (self.figures / f"{entry['id']}-sketch.svg").write_text(book_pictures.Sketch(words).draw())
            lines += [f"![Sketch: {entry['title']}](figures/{entry['id']}-sketch.svg)", ""]
        if "study" in entry:
            return self.write_study(lines, number, entry, tasks)
        if "orders" in entry:
            return self.write_orders(lines, number, entry, tasks)
        if not tasks:
            return None
        return self.write_runs(lines, number, entry, tasks)

    def write_runs(self, lines, number, entry, tasks):
        rows = self.compare(entry, tasks)
        lines += ["| number | accepted | source |", "| " + 26 * "-" + " | " + 22 * "-" + " | " + 44 * "-" + " |"]
        for row in rows:
            formula = f", ${row['formula']}$" if row["formula"] else ""
            lines.append(f"| {row['name']}{formula} | {full(row['accepted'])} {row['unit']} | {row['source']} |")
        lines += ["", "| number | scheme | value | error | limit | error/limit |",
                  "| " + 24 * "-" + " | " + 30 * "-" + " | " + 20 * "-" + ": | " + 9 * "-" + ": | " + 9 * "-" + ": | " + 11 * "-" + ": |"]
        for row in rows:
            for i, cell in enumerate(row["runs"]):
                value = full(cell["value"]) if cell["value"] is not None else "–"
                mark = "" if cell["holds"] else " **fails**"
                lines.append(f"| {'' if i else row['name']} | {self.label(cell['scheme'], cell['size'])} | {value} | {short(cell['error'], 2)} | "
                             f"{short(cell['limit'], 2)} | {short(cell['ratio'], 2)}{mark} |")
        lines += ["", "| scheme | steps | force evaluations | CPU [ms] | certificate |", "| --- | ---: | ---: | ---: | --- |"]
        costs = []
        for task in tasks:
            if not isinstance(task.step, tuple) and "failure" in task.result:
                why = entry.get("refuses", {}).get(task.scheme, task.result["failure"])
                lines.append(f"| {self.label(task.scheme, task.step)} | – | – | – | not done: {why} |")
            if isinstance(task.step, tuple) or "summary" not in task.result:
                continue
            summary, certificate = task.result["summary"], task.result.get("certificate", {})
            work = summary["work"]
            verdict = f"holds, {certificate.get('items', 0)} items" if certificate.get("passed") else (
                "fails: " + ", ".join(certificate.get("failed", [])) + self.excuse(entry, task.scheme))
            lines.append(f"| {self.label(task.scheme, task.step)} | {summary['steps']} | {work['force_evaluations']} | "
                         f"{1e3 * work['cpu_s']:.3g} | {verdict} |")
            costs.append({"scheme": task.scheme, "size": task.step, "steps": summary["steps"], "cpu_s": work["cpu_s"],
                          "force_evaluations": work["force_evaluations"], "certificate": certificate,
                          "command": task.result["command"]})
        lines.append("")
        reasons = {}
        for row in rows:
            for cell in row["runs"]:
                reasons.setdefault((cell["scheme"], cell["reason"]), None)
        lines.append("Limits: " + "; ".join(f"{self.label(s, None)}: {r}" for s, r in reasons) + ".")
        lines.append("")
        if (self.figures / f"{entry['id']}.svg").exists() and entry.get("plot"):
            lines += [f"![Motion: {entry['title']}](figures/{entry['id']}.svg)", ""]
        self.write_precision(lines, entry, tasks, rows)
        command = next((t.result["command"] for t in tasks if t.scheme == "tol" and "command" in t.result), "")
        command = re.sub(r" (--json|--force|--every 1|--events \S+|-o \S+)(?= |$)", "", command)
        command = re.sub(r" (--json|--force|--every 1|--events \S+|-o \S+)(?= |$)", "", command)
        if "scene" in entry:
            lines += [f"Run it: `build/{command}`", ""]
        else:
            lines += ["The scene:", "", "```yaml", entry["model"].strip(), "```", ""]
        return {"id": entry["id"], "number": number, "title": entry["title"], "kind": "runs", "numbers": rows, "costs": costs}

    def excuse(self, entry, scheme):
        reason = entry.get("uncertified", {}).get(scheme)
        return f" ({reason})" if reason else ""

    @staticmethod
    def label(scheme, size):
        if scheme == "tol":
            return "`--tol`" if size is None else f"`--tol {size:g}`"
        return f"`{scheme}`" if size is None else f"`{scheme}`, h = {size:g} s"

    def write_precision(self, lines, entry, tasks, rows):
        """Error of the first number against force evaluations and CPU time."""
        precise = [t for t in tasks if isinstance(t.step, tuple) and "summary" in t.result]
        if not precise or not rows:
            return
        number, accepted = entry["number"][0], rows[0]["accepted"]
        curves, table = {}, []
        for task in precise:
            seen = {**self.known(entry), **Run(task.result["summary"], task.result["events"]).names()}
            try:
                error = abs(evaluate(number["of"], seen) - accepted)
            except Missing:
                continue
            work = task.result["summary"]["work"]
            name = "adaptive (--tol)" if task.scheme == "tol" else task.scheme
            table.append((name, task.step[1], error, work["force_evaluations"], work["cpu_s"]))
            curves.setdefault(name, []).append((work["force_evaluations"] or task.result["summary"]["steps"], max(error, 1e-17)))
        for points in curves.values():
            points.sort()
        picture = book_pictures.logarithmic(curves, "force evaluations", f"error of {rows[0]['name']}",
                                            f"Work and precision: {entry['title']}")
        if picture:
            (self.figures / f"{entry['id']}-work.svg").write_text(picture)
            lines += [f"![Work and precision: {entry['title']}](figures/{entry['id']}-work.svg)", ""]
        lines += ["| scheme | step or tolerance | error | force evaluations | CPU [ms] |", "| --- | ---: | ---: | ---: | ---: |"]
        lines += [f"| `{n}` | {s:g} | {short(e, 2)} | {f} | {1e3 * c:.3g} |" for n, s, e, f, c in table]
        lines.append("")

    def write_study(self, lines, number, entry, tasks):
        task = tasks[0]
        rows = self.claims(entry, task)
        if not rows:
            self.fail(entry, "the study claims nothing")
        source = task.result.get("report", {}).get("source", "")
        holds = sum(r["holds"] for r in rows)
        worst = max((r["ratio"] for r in rows if r["ratio"] is not None), default=None)
        lines += [f"Accepted numbers: {entry.get('source', source)}. Study `{entry['study']}`: {holds} of {len(rows)} claims hold; "
                  f"the worst is at {short(worst, 2)} of its limit.", ""]
        shown = [r for r in rows if r["accepted"] is not None] or rows
        rest = [r for r in rows if r not in shown]
        shown = (shown + rest)[:entry.get("rows", 12)]
        lines += ["| claim | accepted | measured | deviation/limit |",
                  "| " + 60 * "-" + " | " + 26 * "-" + ": | " + 20 * "-" + ": | " + 16 * "-" + ": |"]
        for r in shown:
            mark = "" if r["holds"] else " **fails**"
            lines.append(f"| {r['id'].replace('|', '∣')} | {self.expected(r)} | {full(r['measured']) if isinstance(r['measured'], (int, float)) else r['measured']} | "
                         f"{short(r['ratio'], 2)}{mark} |")
        if len(rows) > len(shown):
            lines += ["", f"{len(rows) - len(shown)} more claims are in `book.json`."]
        lines.append("")
        if (self.figures / f"{entry['id']}.svg").exists():
            lines += [f"![{entry['title']}](figures/{entry['id']}.svg)", ""]
        lines += [f"Run it: `build/saltus study {entry['study']}`", ""]
        return {"id": entry["id"], "number": number, "title": entry["title"], "kind": "study", "study": entry["study"],
                "source": entry.get("source", source), "claims": rows, "seconds": task.result.get("seconds")}

    @staticmethod
    def expected(row):
        """A claim in words, with all digits of an accepted number."""
        if row["accepted"] is None:
            return row["expected"]
        return full(row["accepted"]) + " within " + row["expected"].split(" within ")[-1]

    def write_orders(self, lines, number, entry, tasks):
        """A table of orders by scheme and norm; the norm that theory speaks of is claimed."""
        norms = ["q inf", "q L1", "q L2", "q graph", "v inf", "v L1", "v L2", "v graph"]
        lines += ["| scheme | expected | " + " | ".join(norms) + " |", "| " + 28 * "-" + " | " + 12 * "-" + " |" + " -------: |" * len(norms)]
        rows, curves = [], {}
        for task in tasks:
            expected, norm = entry["orders"]["schemes"][task.scheme]
            orders, errors = self.orders(task)
            least = expected - entry["orders"].get("slack", 0.2)
            got = orders.get(norm)
            holds = got is not None and got >= least
            if not holds and "report" in task.result:
                self.fail(entry, f"{task.scheme}: order {short(got)} in {norm}, expected {expected}")
            cells = [f"**{short(orders.get(n), 3)}**" if n == norm else short(orders.get(n), 3) for n in norms]
            lines.append(f"| `{task.scheme}` | {expected:g} in {norm} | " + " | ".join(cells) + (" | **fails**" if not holds else " |"))
            rows.append({"scheme": task.scheme, "norm": norm, "accepted": expected, "measured": got, "holds": holds,
                         "orders": orders})
            curves[task.scheme] = errors
        lines += ["", "Bold: the norm in which the order is claimed; the order is that of a line through all steps.", ""]
        picture = book_pictures.logarithmic(curves, "step [s]", entry["orders"].get("shown", "q L1"), entry["title"])
        if picture:
            (self.figures / f"{entry['id']}.svg").write_text(picture)
            lines += [f"![Errors over the step](figures/{entry['id']}.svg)", ""]
        return {"id": entry["id"], "number": number, "title": entry["title"], "kind": "orders", "rows": rows}

    def orders(self, task):
        """Slopes through the errors of all steps, by norm."""
        runs = task.result.get("report", {}).get("rows", [])
        shown = task.entry["orders"].get("shown", "q L1")
        orders, curve = {}, []
        for what in ("q", "v"):
            for norm in ("inf", "L1", "L2", "graph"):
                key = "hausdorff" if norm == "graph" else norm
                points = [(r["h"], r["error"][what].get(key)) for r in runs]
                points = [(math.log(h), math.log(e)) for h, e in points if e and e > entry_floor(task.entry)]
                if f"{what} {norm}" == shown:
                    curve = [(math.exp(a), math.exp(b)) for a, b in points]
                if len(points) >= 3:
                    mx, my = (sum(p[i] for p in points) / len(points) for i in (0, 1))
                    orders[f"{what} {norm}"] = sum((a - mx) * (b - my) for a, b in points) / sum((a - mx) ** 2 for a, _ in points)
        return orders, sorted(curve)

    def index(self, results):
        kinds = {"runs": 0, "study": 0, "orders": 0}
        lines, strips, worst_all = [], {}, (0.0, None, None)
        total = {"entries": 0, "numbers": 0, "comparisons": 0, "certificates": 0, "passed": 0}
        table = ["| chapter | entries | accepted numbers | comparisons | worst deviation/limit |",
                 "| " + 40 * "-" + " | " + 9 * "-" + ": | " + 18 * "-" + ": | " + 13 * "-" + ": | " + 24 * "-" + " |"]
        for i, chapter in enumerate(results, 1):
            ratios, count, numbers, worst = [], 0, 0, (0.0, None)
            for entry in chapter["entries"]:
                kinds[entry["kind"]] += 1
                here = list(self.ratios(entry))
                ratios += here
                count += 1
                numbers += self.count_numbers(entry)
                top = max((r for r, _ in here), default=0.0)
                if top > worst[0]:
                    worst = (top, entry)
                for cost in entry.get("costs", []):
                    total["certificates"] += 1
                    total["passed"] += bool(cost["certificate"].get("passed"))
            total["entries"] += count
            total["numbers"] += numbers
            total["comparisons"] += len(ratios)
            if worst[0] > worst_all[0]:
                worst_all = (worst[0], worst[1], chapter)
            title = f"{i}. {chapter['title']}".replace(" ", "\u00a0")  # a line each: all of it on one screen
            link = f"[{title}]({chapter['file']}.md)"
            where = f"{short(worst[0], 3)} in [{worst[1]['number']}]({chapter['file']}.md#{worst[1]['id']})" if worst[1] else "–"
            table.append(f"| {link} | {count or '–'} | {numbers or '–'} | {len(ratios) or '–'} | {where} |")
            if ratios:
                strips[f"{i}. {chapter['title']}"] = ratios
        verdict = f"**Every one of {total['comparisons']} comparisons holds.**" if not self.failures else (
            f"**{len(self.failures)} claims fail.**")
        worst_words = (f"Worst deviation: {short(worst_all[0], 3)} of its limit, in [{worst_all[1]['number']} {worst_all[1]['title']}]"
                       f"({worst_all[2]['file']}.md#{worst_all[1]['id']})." if worst_all[1] else "")
        lines += ["# The validation book", "",
                  f"{verdict} {total['entries']} problems have {total['numbers']} accepted numbers from the literature, closed forms and "
                  f"independent computations. {kinds['runs']} of them are scenes, run to a tolerance and with fixed steps: `saltus verify` certifies "
                  f"{total['passed']} of their {total['certificates']} recordings; the others are studies of published tables and figures. {worst_words}", ""]
        (self.figures / "deviations.svg").write_text(book_pictures.strip(strips) if strips else "")
        lines += ["![Deviations from accepted numbers, relative to their limits](figures/deviations.svg)", ""] + table + [""]
        if self.failures:
            lines += ["## What fails", ""] + [f"* [{i}]({f}.md#{i}): {w}" for f, i, w in self.failures] + [""]
        version = call([self.program, "--version"])[1].strip()
        lines += [f"{version}, {platform.machine()}, built in {self.seconds:.0f} s with {self.options.jobs} processes on "
                  f"{datetime.date.today().isoformat()}. How it is made and how to add an entry: `docs/book.md`.", ""]
        (self.out / "index.md").write_text("\n".join(lines))
        return {**total, "worst": worst_all[0], "worst_entry": worst_all[1]["id"] if worst_all[1] else None}

    def write_limits(self, results):
        """Five times each error, rounded up to one digit, not below rounding; entries that were not built keep theirs."""
        for chapter in results:
            for entry in chapter["entries"]:
                for row in entry.get("numbers", []):
                    for cell in row["runs"]:
                        if cell["scheme"] == "tol" or cell["error"] is None:
                            continue
                        limit = max(5 * cell["error"], 1e-12 * max(1.0, abs(row["accepted"])))
                        unit = 10.0 ** math.floor(math.log10(limit))
                        self.measured[f"{entry['id']}/{row['name']}/{cell['scheme']}"] = {
                            "h": cell["size"], "limit": float(f"{math.ceil(limit / unit - 1e-9) * unit:.0e}")}
        lines = [f" {json.dumps(k)}: {json.dumps(self.measured[k])}" for k in sorted(self.measured)]
        path = pathlib.Path(self.options.chapters) / "limits.json"
        path.write_text("{\n" + ",\n".join(lines) + "\n}\n")

    @staticmethod
    def ratios(entry):
        """(deviation over limit, holds) of each comparison."""
        if entry["kind"] == "runs":
            for row in entry["numbers"]:
                for cell in row["runs"]:
                    yield cell["ratio"], cell["holds"]
        elif entry["kind"] == "study":
            for claim in entry["claims"]:
                if claim["ratio"] is not None:
                    yield claim["ratio"], claim["holds"]

    @staticmethod
    def count_numbers(entry):
        if entry["kind"] == "runs":
            return len(entry["numbers"])
        if entry["kind"] == "study":
            return sum(1 for c in entry["claims"] if c["ratio"] is not None)
        return len(entry["rows"])


def entry_floor(entry):
    """Errors below are rounding and have no order."""
    return entry["orders"].get("floor", 1e-13)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default=str(ROOT / "build/saltus"), help="the program to judge")
    parser.add_argument("--chapters", default=str(ROOT / "book"), help="folder of entries, *.toml")
    parser.add_argument("-o", "--output", default=str(ROOT / "build/book"), help="folder of the book")
    parser.add_argument("--only", help="entries by id, with commas between")
    parser.add_argument("--measure", action="store_true",
                        help="writes limits.json: for fixed steps five times the errors of this build, below the limits of entries")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1, help="runs at a time")
    options = parser.parse_args()
    book = Book(options)
    tasks = book.run_all()
    results = book.write(tasks)
    total = book.index(results)
    summary = {"passed": not book.failures, **total, "seconds": book.seconds,
               "failures": [{"chapter": f, "entry": i, "what": w} for f, i, w in book.failures], "chapters": results}
    (book.out / "book.json").write_text(json.dumps(summary, indent=1, default=str))
    if options.measure:
        book.write_limits(results)
    if not options.only:
        (book.out / "costs.json").write_text(json.dumps(book.costs))
    for words in book.remarks:
        print(f"remark: {words}")
    for folder, entry, words in book.failures:
        print(f"{folder}: {entry}: {words}")
    print(f"{total['entries']} entries, {total['numbers']} accepted numbers, {total['comparisons']} comparisons, "
          f"{total['passed']} of {total['certificates']} certificates; worst deviation {short(total['worst'], 3)} of its limit "
          f"({total['worst_entry']}); {len(book.failures)} failures; {book.seconds:.0f} s. {book.out / 'index.md'}")
    return 1 if book.failures else 0


if __name__ == "__main__":
    sys.exit(main())
