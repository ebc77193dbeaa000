/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * commands.c - every command with its options: the one table behind parsing, --help, the manual page
 * and shell completion.
 */
#include "cli.h"

#include <stddef.h>

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

static const cli_option run_options[] = {
    {"--scheme", "NAME", "time-stepping scheme (saltus list schemes)", false},
    {"--step", "H", "step in seconds; shortened so that steps end exactly at the end", false},
    {"--until", "T", "time at the end in seconds", false},
    {"--tol", "X",
     "accuracy rtol = atol = X instead of a step: scheme adaptive, or the named one under control",
     false},
    {"--global", NULL,
     "makes the tolerance one of the motion: repeats the run with smaller tolerances of steps "
     "until "
     "its error is estimated below it",
     false},
    {"--rtol", "X", "relative tolerance alone", false},
    {"--atol", "X", "absolute tolerance alone, in the units of the coordinates", false},
    {"--control", "NAME", "step-size controller (saltus list controls)", false},
    {"--control-option", "NAME=VALUE", "sets an option of the controller", true},
    {"--set", "NAME=VALUE", "replaces a parameter of the scene", true},
    {"--option", "NAME=VALUE", "sets an option of the scheme", true},
    {"--every", "N", "records every N-th step", false},
    {"--output-dt", "DT", "records every DT seconds, wherever steps end", false},
    {"--events", "FILE", "writes the events to FILE.csv or FILE.json; - prints them as a table",
     CLI_WRITES},
    {"--threads", "N", "1 to 64 threads share steps of 1000 contacts and more; the same bits",
     false},
    {"-o", "FILE", "records to FILE.h5 or FILE.csv", false},
    {"--force", NULL,
     "replaces files that are there; without it -o replaces a recording, and nothing else is "
     "replaced",
     CLI_ONCE},
    {"--certify", NULL, "records every step with -o and verifies it: exit code 1 unless all holds",
     false},
    {"--snapshot", "FILE",
     "writes what the run needs to go on to FILE.snapshot, when it ends or is stopped", CLI_WRITES},
    {"--costs", NULL,
     "says which kinds of shapes and which pairs of bodies finding contacts and contact problems "
     "work for",
     false},
    {"--design", NULL,
     "says what designers ask: forces of joints, impacts, rebounds and wear of contacts", false},
    {"--sensitivity", "NAME",
     "says how end and events change with a parameter, or with the start x or velocity x' of a "
     "coordinate",
     true},
    {"--global-error", NULL,
     "estimates what the errors of all steps add up to, by a second run with a tenth of the "
     "tolerance",
     false},
    {"--verbose", NULL,
     "prints the whole summary and notes: options, limits of steps, work, all outputs, residuals",
     false},
    {"--json", NULL, "prints the summary as JSON", false},
    {"--help", NULL, "prints this text", false},
};
static const cli_option resume_options[] = {
    {"--until", "T", "time at the end in seconds; default that of a run that was interrupted",
     false},
    {"--every", "N", "records every N-th step", false},
    {"--output-dt", "DT", "records every DT seconds, wherever steps end", false},
    {"--events", "FILE", "writes the events to FILE.csv or FILE.json; - prints them as a table",
     CLI_WRITES},
    {"--threads", "N", "1 to 64 threads share steps of 1000 contacts and more; the same bits",
     false},
    {"-o", "FILE", "records what follows to FILE.h5 or FILE.csv", false},
    {"--force", NULL,
     "replaces files that are there; without it -o replaces a recording, and nothing else is "
     "replaced",
     CLI_ONCE},
    {"--snapshot", "FILE", "writes what the run needs to go on again to FILE.snapshot", CLI_WRITES},
    {"--verbose", NULL,
     "prints the whole summary and notes: options, limits of steps, work, all outputs, residuals",
     false},
    {"--json", NULL, "prints the summary as JSON", false},
    {"--help", NULL, "prints this text", false},
};
static const cli_option check_options[] = {
    {"--set", "NAME=VALUE", "replaces a parameter of the scene", true},
    {"--sketch", "FILE", "draws the bodies at the start to FILE.svg, .pdf or .png", CLI_WRITES},
    {"--separate", NULL, "moves bodies apart whose shapes lie in each other, and says where to",
     false},
    {"--force", NULL, "replaces files that are there", CLI_ONCE},
    {"--json", NULL, "prints JSON", false},
    {"--help", NULL, "prints this text", false},
};
static const cli_option reduce_options[] = {
    {"--stiffness", "FILE", "stiffness matrix, .sti of CalculiX or .mtx; default NAME.sti", false},
    {"--mass", "FILE", "mass matrix; default NAME.mas", false},
    {"--dof", "FILE", "node and direction of each row; default NAME.dof", false},
    {"--mesh", "FILE", "nodes and node sets, .inp of CalculiX or .msh of gmsh; default NAME.inp",
     false},
    {"--scale", "X", "m for each unit of the mesh; default 1", false},
    {"--modes", "N", "fixed-interface modes; default 10", false},
    {"--interface", "NAME=SET", "nodes that move as one rigid frame, for joints", true},
    {"--contact", "NAME=SET", "contact nodes", true},
    {"--damping", "Z", "damping ratio of all modes; default 0", false},
    {"--stiffening", "FILE", "stiffness matrix of the body as it turns: geometric stiffness",
     false},
    {"--still", "FILE", "the same with its supports at rest; default: the stiffness matrix", false},
    {"--speed", "W", "its angular velocity, rad/s", false},
    {"--axis", "X,Y,Z", "its axis; default 0,0,1", false},
    {"-o", "FILE", "writes the body to FILE.h5, for the key flexible of bodies", CLI_WRITES},
    {"--help", NULL, "prints this text", false},
};
static const cli_option info_options[] = {
    {"--scene", NULL, "prints the scene that the recording was made from", false},
    {"--events", NULL, "prints its events as a table, with --csv or --json in these formats",
     false},
    {"--contacts", NULL,
     "prints the contacts of each state where they come and go, with --csv or --json in these "
     "formats",
     false},
    {"--csv", NULL, "with --events or --contacts: as CSV", false},
    {"--json", NULL, "prints JSON", false},
    {"--help", NULL, "prints this text", false},
};
static const cli_option list_options[] = {
    {"--all", NULL, "with source and options of each", false},
    {"--json", NULL, "prints JSON", false},
    {"--help", NULL, "prints this text", false},
};
static const cli_option study_options[] = {
    {"--scheme", "NAME", "converge: time-stepping scheme", false},
    {"--steps", "N,N,...", "converge: numbers of steps, default 211,401,809,1601,3203", false},
    {"--until", "T", "converge: time at the end in seconds", false},
    {"--reference", "WHAT",
     "converge: exact (what the model names), fine (runs with 16 times the steps), a problem or a "
     "CSV file",
     false},
    {"--set", "NAME=VALUE", "converge: replaces a parameter of the scene", true},
    {"--option", "NAME=VALUE", "converge: sets an option of the scheme", true},
    {"--only", "FAMILY[:NUMBER]", "adversarial: one family of scenes, or one scene", false},
    {"--count", "N", "adversarial: scenes of each family", false},
    {"--tol", "X", "adversarial: one tolerance instead of 1e-4, 1e-6, 1e-8 and 1e-10", false},
    {"--save", "DIR", "adversarial: writes the scenes that fail to DIR/FAMILY-NUMBER.yaml", false},
    {"--limit", "S", "adversarial: CPU seconds that a run may take, default 60", false},
    {"-o", "FILE", "draws the errors to FILE.svg, .pdf or .png", CLI_WRITES},
    {"--force", NULL, "replaces files that are there", CLI_ONCE},
    {"--json", NULL, "prints rows and claims as JSON", false},
    {"--report", "FILE", "writes rows and claims as JSON to FILE beside the text", CLI_WRITES},
    {"--help", NULL, "prints this text", false},
};
static const cli_option plot_options[] = {
    {"--series", "NAME,...",
     "only these: names of coordinates, velocities (x') and outputs, CONTACT.force, "
     "CONTACT.impulse; "
     "positions, velocities, outputs, impulses, forces, energy, ledger, events",
     true},
    {"--from", "T", "from this time on", false},
    {"--to", "T", "up to this time", false},
    {"--phase", "X",
     "X against its velocity; X,Y: against any other coordinate, velocity or output", false},
    {"-o", "FILE", "FILE.svg, .pdf or .png; default: beside the recording, .svg", CLI_WRITES},
    {"--force", NULL, "replaces files that are there", CLI_ONCE},
    {"--help", NULL, "prints this text", false},
};

static const cli_option solve_options[] = {
    {"--solver", "NAME", "one solver instead of the portfolio (a wrong name lists them)", false},
    {"--tol", "T", "residual as a part of |q|, default 1e-8", false},
    {"--threads", "N", "1 to 64, for friction problems of 1000 contacts and more; the same bits",
     false},
    {"--option", "NAME=VALUE", "sets an option of the solver", true},
    {"--dump", "FILE", "writes the first problem that was not solved to FILE", CLI_WRITES},
    {"--force", NULL, "replaces files that are there", CLI_ONCE},
    {"--json", NULL, "prints the results as JSON", false},
    {"--help", NULL, "prints this text", false},
};

static const cli_option convert_options[] = {
    {"-o", "FILE", "writes the scene to FILE.yaml; default: the standard output", CLI_WRITES},
    {"--force", NULL, "lets -o replace a file that is there", false},
    {"--base", "fixed|free",
     "what holds the root link; default: the ground when it is called world or has no inertial, "
     "else nothing",
     false},
    {"--merge", NULL, "links that fixed joints hold together become one body", false},
    {"--json", NULL, "prints counts and what was not taken over as JSON", false},
    {"--help", NULL, "prints this text", false},
};

static const cli_option export_options[] = {
    {"-o", "FILE", "writes to FILE; default: the name of the scene with .fmu or .c", CLI_WRITES},
    {"--force", NULL, "lets -o replace a file that is there", false},
    {"--fmi", "3|2", "fmu: version of FMI; default 3", false},
    {"--set", "NAME=VALUE", "replaces a parameter or a start", CLI_REPEATS},
    {"--tol", "T", "fmu: tolerance of the exported model; default: that of the scene", false},
    {"--scheme", "NAME", "scheme of the exported model; default: that of the scene", false},
    {"--step", "H", "step of the exported model [s]; default: that of the scene", false},
    {"--prefix", "NAME", "c: begins all names; default model", false},
    {"--binary", "FILE", "fmu: shared object of all FMUs; default: the installed saltus_fmu.so",
     false},
    {"--help", NULL, "prints this text", false},
};

static const cli_option bench_options[] = {
    {"--tol", "T", "residual as a part of |q|, default 1e-8", false},
    {"--solver", "NAME", "only these solvers beside the portfolio", true},
    {"--siconos", NULL, "also solvers of Siconos numerics, when it is installed", false},
    {"-o", "FILE", "draws the profiles to FILE.svg, .pdf or .png", CLI_WRITES},
    {"--force", NULL, "replaces files that are there", CLI_ONCE},
    {"--json", NULL, "prints the times as JSON", false},
    {"--help", NULL, "prints this text", false},
};

static const cli_option lab_options[] = {
    {"--impact", "N", "which impact of the scene, default 1: the first", false},
    {"--set", "NAME=VALUE", "replaces a parameter of the scene", true},
    {"--W", "X,...", "without a scene: W of one contact row by row, normal first [kg^-1]", false},
    {"--U", "X,...", "its velocities before: normal, then none, one or two tangents [m/s]", false},
    {"--mu", "X", "its friction, default 0", false},
    {"--e", "X", "its restitution, default 0", false},
    {"--e-T", "X", "its tangential restitution, -1 to 1, default 0", false},
    {"--contact", "NAME", "friction: which contact of the scene, default the first with friction",
     false},
    {"--force", "X", "friction: normal force, default 1 N", false},
    {"-o", "FILE",
     "draws the impulse plane of one planar contact, or friction, to FILE.svg, .pdf or .png",
     CLI_WRITES},
    {"--json", NULL, "prints JSON", false},
    {"--help", NULL, "prints this text", false},
};

static const cli_option sweep_options[] = {
    {"--axis", "AXIS",
     "NAME=FROM:TO:COUNT [log], NAME=A,B,C, or NAME~uniform(A,B), ~loguniform(A,B), "
     "~normal(MEAN,DEVIATION), "
     "~lognormal(MEDIAN,DEVIATION); NAME is a parameter, or the start x or velocity x' of a "
     "coordinate",
     true},
    {"--measure", "[NAME=]FORMULA",
     "what is kept of a run: max(q), min, first, last, mean, rms, integral of formulas; "
     "time(impact of floor), "
     "count(impact); max(force of pin), sum(impulse of floor), wear(floor), and formulas of these",
     true},
    {"--samples", "N", "draws random axes N times", false},
    {"--sampling", "NAME", "random, latin or sobol; default random", false},
    {"--seed", "N", "of the random axes; default 0", false},
    {"--scheme", "NAME", "time-stepping scheme (saltus list schemes)", false},
    {"--step", "H", "step in seconds", false},
    {"--until", "T", "time at the end in seconds", false},
    {"--tol", "X", "accuracy rtol = atol = X instead of a step", false},
    {"--rtol", "X", "relative tolerance alone", false},
    {"--atol", "X", "absolute tolerance alone, in the units of the coordinates", false},
    {"--control", "NAME", "step-size controller (saltus list controls)", false},
    {"--control-option", "NAME=VALUE", "sets an option of the controller", true},
    {"--set", "NAME=VALUE", "replaces a parameter of the scene in all runs", true},
    {"--option", "NAME=VALUE", "sets an option of the scheme", true},
    {"--time-limit", "S", "ends a run after so many seconds of computing time, as one that failed",
     false},
    {"--threads", "N", "1 to 64; default as many as the machine has. The same bits", false},
    {"--shard", "I/N", "computes part I of N, for job arrays; saltus merge puts the parts together",
     false},
    {"--restart", NULL, "begins anew where a table of an earlier sweep is in the way", false},
    {"-o", "FILE", "writes the table to FILE.h5, FILE.csv or, as it is computed, FILE.runs", true},
    {"--figure", "FILE", "draws measures over the axes to FILE.svg, .pdf or .png",
     CLI_WRITES | CLI_REPEATS},
    {"--force", NULL, "replaces files that are there", CLI_ONCE},
    {"--verbose", NULL,
     "prints the whole summary and notes: options, limits of steps, work, all outputs, residuals",
     false},
    {"--json", NULL, "prints the summary as JSON", false},
    {"--help", NULL, "prints this text", false},
};
static const cli_option orbit_options[] = {
    {"--period", "T", "it comes back after this time; a formula of the parameters: 2*pi/w", false},
    {"--section", "EVENT", "it comes back right after an event: \"impact of floor\", \"stick\"",
     false},
    {"--count", "N", "after so many periods or events; default 1", false},
    {"--drift", "NAME", "a coordinate that moves on in every period and matters in no other way",
     true},
    {"--after", "T",
     "guess: the motion after so many seconds; default the start, or its first section", false},
    {"--follow", "NAME=FROM:TO:COUNT",
     "follows the orbit over a parameter; says where it doubles its period, folds, or ends", false},
    {"--set", "NAME=VALUE", "replaces a parameter of the scene", true},
    {"--tol", "X", "accuracy of runs, rtol = atol; default 1e-11", false},
    {"--json", NULL, "prints JSON", false},
    {"--help", NULL, "prints this text", false},
};
static const cli_option map_options[] = {
    {"--period", "T", "looks at the motion every T s; a formula of the parameters: 2*pi/w", false},
    {"--section", "EVENT", "looks at it right after every such event: \"impact of floor\"", false},
    {"--skip", "N", "does not keep the first N; default 100", false},
    {"--points", "N", "keeps so many; default 100", false},
    {"--over", "NAME=FROM:TO:COUNT",
     "for every value of a parameter, each from where the last one ended", false},
    {"--both", NULL, "up and then down", false},
    {"--show", "NAME", "coordinate or velocity that the figure shows; default the first velocity",
     false},
    {"--set", "NAME=VALUE", "replaces a parameter of the scene", true},
    {"--tol", "X", "accuracy, rtol = atol; default 1e-9", false},
    {"-o", "FILE", "writes FILE.csv", CLI_WRITES},
    {"--figure", "FILE", "draws FILE.svg, .pdf or .png", CLI_WRITES},
    {"--force", NULL, "replaces files that are there", CLI_ONCE},
    {"--help", NULL, "prints this text", false},
};
static const cli_option merge_options[] = {
    {"-o", "FILE", "writes the table to FILE.h5, FILE.csv or FILE.runs", true},
    {"--figure", "FILE", "draws measures over the axes to FILE.svg, .pdf or .png",
     CLI_WRITES | CLI_REPEATS},
    {"--force", NULL, "replaces files that are there", CLI_ONCE},
    {"--verbose", NULL,
     "prints the whole summary and notes: options, limits of steps, work, all outputs, residuals",
     false},
    {"--json", NULL, "prints the summary as JSON", false},
    {"--help", NULL, "prints this text", false},
};
static const cli_option verify_options[] = {
    {"--tol", "X", "tolerance that is granted; default: that of the recording, at most 1e-3",
     false},
    {"--set", "NAME=VALUE", "replaces a parameter of the scene", true},
    {"--json", NULL, "prints the certificate as JSON", false},
    {"--help", NULL, "prints this text", false},
};

static const cli_option report_options[] = {
    {"-o", "FILE", "FILE.html; default: beside the recording", false},
    {"--no-certificate", NULL, "leaves the certificate out", false},
    {"--set", "NAME=VALUE", "replaces a parameter of the scene", true},
    {"--force", NULL, "lets -o replace a file that is no report", false},
    {"--help", NULL, "prints this text", false},
};

static const cli_option vtk_options[] = {
    {"-o", "DIR", "folder of the files; default: RECORDING.vtk", false},
    {"--frames", "N", "states at most, those beside events first; default 500", false},
    {"--around", "N", "corners of a circle, 8 to 256; default 24", false},
    {"--set", "NAME=VALUE", "replaces a parameter of the scene", true},
    {"--force", NULL, "writes into a folder that is not empty", false},
    {"--help", NULL, "prints this text", false},
};

static const cli_option compare_options[] = {
    {"--match", "S", "events of one contact farther apart than S seconds are different ones",
     false},
    {"--any", NULL, "also recordings of different scenes with the same coordinates", false},
    {"--events", NULL, "prints all events, not the first twenty", false},
    {"-o", "FILE", "draws both and their differences to FILE.svg, .pdf or .png", CLI_WRITES},
    {"--force", NULL, "replaces files that are there", CLI_ONCE},
    {"--json", NULL, "prints JSON", false},
    {"--help", NULL, "prints this text", false},
};

static const cli_option view_options[] = {
    {"--scheme", "NAME", "of a scene: time-stepping scheme", false},
    {"--step", "H", "of a scene: step in seconds", false},
    {"--tol", "X", "of a scene: accuracy instead of a step", false},
    {"--until", "T", "of a scene: time at the end in seconds", false},
    {"--set", "NAME=VALUE", "replaces a parameter of the scene", true},
    {"--option", "NAME=VALUE", "of a scene: sets an option of the scheme", true},
    {"--output-dt", "DT", "of a scene: records every DT seconds, wherever steps end", false},
    {"-o", "FILE", "FILE.html; default: in a new folder for temporary files", false},
    {"--no-certificate", NULL, "leaves the certificate out", false},
    {"--no-open", NULL, "writes the page and opens nothing", false},
    {"--force", NULL, "lets -o replace a file that is no report", false},
    {"--help", NULL, "prints this text", false},
};

static const cli_command commands[] = {
    {"run", "MODEL", "simulates a scene or a reference problem",
     "MODEL is a scene file (.yaml), - for a scene on the standard input, or the name of a "
     "reference\n"
     "problem (saltus list problems).\n"
     "Ctrl-C or SIGTERM stops the run with its last state recorded; a second one ends it at once.",
     run_options, COUNT(run_options), 1, 1, cli_run},
    {"resume", "FILE", "goes on with a run that ended or was stopped",
     "FILE is a snapshot (saltus run --snapshot): the run goes on with what its scheme remembers, "
     "to "
     "the\nbits of an uninterrupted run with fixed steps, and after an interruption with any; a "
     "run "
     "to a\ntolerance that came to its end had its last step cut there, and goes on to the "
     "tolerance.\nOr it is a recording: the run goes on from its last state, with the same scheme, "
     "options\nand step; the scheme starts anew.",
     resume_options, COUNT(resume_options), 1, 1, cli_resume},
    {"check", "MODEL", "validates a model without running it and explains it",
     "Shows coordinates, the derived mass matrix, gaps and joints at the start, of bodies how the\n"
     "joints were closed, mobility and masses, and compares every derivative with differences.",
     check_options, COUNT(check_options), 1, 1, cli_check},
    {"info", "FILE", "says what a recording holds",
     "FILE is a recording (.h5 or .csv), also one that was interrupted.", info_options,
     COUNT(info_options), 1, 1, cli_info},
    {"reduce", "NAME", "makes a flexible body from finite-element matrices",
     "NAME.sti, NAME.mas, NAME.dof and NAME.inp are files of CalculiX (SOLVER=MATRIXSTORAGE); "
     "others "
     "by\noptions. Prints mass, frequencies, effective masses and what the modes leave out.",
     reduce_options, COUNT(reduce_options), 1, 1, cli_reduce},
    {"sweep", "SCENE", "runs a scene many times and keeps measures of every run",
     "saltus sweep scenes/ball.yaml --axis 'q=0.5:2:31' --measure 't=time(accumulation)' --tol "
     "1e-8 -o heights.csv\n"
     "A sweep that was stopped, even by kill -9, goes on with the same command. Runs that fail "
     "have their\n"
     "reason in the table. mpirun saltus sweep ... shares the runs where the program was built "
     "with MPI.",
     sweep_options, COUNT(sweep_options), 1, 1, cli_sweep},
    {"orbit", "SCENE", "finds a periodic orbit through impacts and friction, and its multipliers",
     "saltus orbit scenes/woodpecker.yaml --section 'impact of beak' --drift y\n"
     "Newton's method on the return map, with derivatives by variational equations and saltation.",
     orbit_options, COUNT(orbit_options), 1, 1, cli_orbit},
    {"map", "SCENE", "looks at a motion every period or at every event, over a parameter",
     "saltus map scenes/shaken-ball.yaml --period '2*pi/w' --over G=0.8:1.4:200 --both --figure "
     "cascade.svg",
     map_options, COUNT(map_options), 1, 1, cli_map},
    {"merge", "FILE.runs...", "puts the tables of the shards of a sweep together",
     "Exit code 1 when runs are missing.", merge_options, COUNT(merge_options), 1, CLI_MOST,
     cli_merge},
    {"verify", "RECORDING [SCENE]", "judges a recording without the code that made it",
     "Computes the motion anew from the recorded states and the scene (that of the recording, or\n"
     "SCENE), and says item by item what holds and how well. Exit code 1 when something does not.",
     verify_options, COUNT(verify_options), 1, 2, cli_verify},
    {"compare", "A B", "says how far two recordings of one scene are apart",
     "Positions at the instants of both, graphs of velocities (Hausdorff), events matched one to "
     "one.",
     compare_options, COUNT(compare_options), 2, 2, cli_compare},
    {"plot", "FILE", "draws a recording",
     "Coordinates, velocities with their jumps, outputs, contact impulses and forces, energy, "
     "events.",
     plot_options, COUNT(plot_options), 1, 1, cli_plot},
    {"report", "RECORDING", "makes a page for browsers from a recording",
     "One file with everything: the motion, curves, events, certificate and scene. It needs no "
     "network.",
     report_options, COUNT(report_options), 1, 1, cli_report_command},
    {"view", "MODEL|RECORDING", "shows a scene or a recording in a browser",
     "Runs the scene where it is one, makes the page of saltus report, and opens it.", view_options,
     COUNT(view_options), 1, 1, cli_view},
    {"vtk", "RECORDING", "writes a recording as files for ParaView",
     "Surfaces of what moves, contacts with their forces, and what stands still: bodies.pvd, "
     "contacts.pvd,\nground.vtp.",
     vtk_options, COUNT(vtk_options), 1, 1, cli_vtk},
    {"study", "NAME [MODEL]", "runs a study and checks its claims",
     "Exit code 0 only when every claim holds. `saltus study converge MODEL` measures errors and\n"
     "orders of any scheme on any model.",
     study_options, COUNT(study_options), 1, 2, cli_study},
    {"solve", "FILE...", "solves contact and complementarity problems from files",
     "FILE is a problem in the text format of Siconos (.dat; the name says the kind: gfc* global\n"
     "friction, lcp* complementarity, *mlcp* mixed, others local friction) or of FCLIB (.hdf5).\n"
     "Exit code 0 only when every problem was solved; one that has no solution is not.",
     solve_options, COUNT(solve_options), 1, CLI_MOST, cli_solve},
    {"convert", "ROBOT", "makes a scene that one can edit from a robot in URDF",
     "ROBOT is a URDF file. Everything of it that the scene does not have is listed with its line, "
     "at\nthe end of the scene too.",
     convert_options, COUNT(convert_options), 1, 1, cli_convert},
    {"export", "fmu|c SCENE", "makes a model for other programs of a scene",
     "fmu: a functional mock-up unit for co-simulation (FMI 3.0 or 2.0), with events at impacts.\n"
     "c: C99 without library and allocation, of scenes by formulas with moreau-jean.",
     export_options, COUNT(export_options), 2, 2, cli_export},
    {"bench", "solvers DIR", "times solvers on the problem files of a folder",
     "Prints performance profiles: the part of the problems that a solver solves within tau times\n"
     "the time of the fastest. Times are CPU times of the solve, the smallest of a few.",
     bench_options, COUNT(bench_options), 2, 2, cli_bench},
    {"lab", "impact|friction [MODEL]",
     "shows what every impact law makes of one configuration, or a friction law of slip",
     "impact: of a scene that at its first impact, found to 1e-10; or of the numbers given. "
     "Impulses,\n"
     "velocities after, energy with its three parts, phases (slip, stick, reverse, jam).\n"
     "friction: of a contact of a scene, or of a law in its words; force against slip and spin.",
     lab_options, COUNT(lab_options), 1, 2, cli_lab},
    {"list", "schemes|controls|solvers|problems|studies|functions|laws [NAME]",
     "lists what there is", "With a NAME: that one alone, with its source and options.",
     list_options, COUNT(list_options), 1, 2, cli_list},
};

const cli_command* cli_commands(int* count) {
  *count = COUNT(commands);
  return commands;
}
