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
    {"--until", "T", "end time in seconds", false},
    {"--tol", "X",
     "accuracy rtol = atol = X instead of a step: scheme adaptive, or the named one under control",
     false},
    {"--global", NULL,
     "applies the tolerance to the global error: repeats the run with smaller step tolerances "
     "until the estimated global error is below it",
     false},
    {"--accept-degraded", NULL,
     "ends a run with exit code 0 although captured intervals exceed the tolerance", false},
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
    {"--threads", "N", "1 to 64, for steps with 1000 contacts or more; results do not depend on it",
     false},
    {"-o", "FILE", "records to FILE.h5 or FILE.csv", false},
    {"--force", NULL, "overwrites existing files; without it -o overwrites recordings only",
     CLI_ONCE},
    {"--certify", NULL,
     "records every step with -o and verifies the recording; exit code 1 if an item fails", false},
    {"--snapshot", "FILE",
     "writes the state and the memory of the scheme to FILE.snapshot at the end or when stopped; "
     "saltus resume continues it",
     CLI_WRITES},
    {"--costs", NULL,
     "prints the cost of contact detection and of contact problems by kind of shape and by pair of "
     "bodies",
     false},
    {"--design", NULL,
     "prints a design summary: forces of joints, impacts, rebounds and wear of contacts", false},
    {"--sensitivity", "NAME",
     "prints derivatives of the final state and of the events with respect to a parameter, or to "
     "the start x or velocity x' of a coordinate",
     true},
    {"--global-error", NULL,
     "estimates the global error by a second run with a tenth of the tolerance", false},
    {"--verbose", NULL,
     "prints the whole summary and notes: options, limits of steps, work, all outputs, residuals",
     false},
    {"--json", NULL, "prints the summary as JSON", false},
    {"--help", NULL, "prints this text", false},
};
static const cli_option resume_options[] = {
    {"--until", "T", "end time in seconds; default: that of the interrupted run", false},
    {"--every", "N", "records every N-th step", false},
    {"--output-dt", "DT", "records every DT seconds, wherever steps end", false},
    {"--events", "FILE", "writes the events to FILE.csv or FILE.json; - prints them as a table",
     CLI_WRITES},
    {"--threads", "N", "1 to 64, for steps with 1000 contacts or more; results do not depend on it",
     false},
    {"-o", "FILE", "records the continuation to FILE.h5 or FILE.csv", false},
    {"--force", NULL, "overwrites existing files; without it -o overwrites recordings only",
     CLI_ONCE},
    {"--snapshot", "FILE", "writes a snapshot of this run to FILE.snapshot", CLI_WRITES},
    {"--verbose", NULL,
     "prints the whole summary and notes: options, limits of steps, work, all outputs, residuals",
     false},
    {"--json", NULL, "prints the summary as JSON", false},
    {"--help", NULL, "prints this text", false},
};
static const cli_option check_options[] = {
    {"--set", "NAME=VALUE", "replaces a parameter of the scene", true},
    {"--sketch", "FILE", "draws the bodies at the start to FILE.svg, .pdf or .png", CLI_WRITES},
    {"--separate", NULL, "separates bodies with overlapping shapes and prints their new positions",
     false},
    {"--force", NULL, "overwrites existing files", CLI_ONCE},
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
    {"--below", "HZ", "condenses modes above this frequency; default: none", false},
    {"--stiffening", "FILE", "stiffness matrix of the rotating body, for the geometric stiffness",
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
     "prints the contacts of each state of a time-varying set, with --csv or --json in these "
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
    {"--until", "T", "converge: end time in seconds", false},
    {"--reference", "WHAT",
     "converge: exact (the reference of the model), fine (runs with 16 times the steps), a problem "
     "or a CSV file",
     false},
    {"--set", "NAME=VALUE", "converge: replaces a parameter of the scene", true},
    {"--option", "NAME=VALUE", "converge: sets an option of the scheme", true},
    {"--only", "FAMILY[:NUMBER]", "adversarial: one family of scenes, or one scene", false},
    {"--count", "N", "adversarial: scenes of each family", false},
    {"--tol", "X", "adversarial: one tolerance instead of 1e-4, 1e-6, 1e-8 and 1e-10", false},
    {"--save", "DIR", "adversarial: writes the scenes that fail to DIR/FAMILY-NUMBER.yaml", false},
    {"--limit", "S", "adversarial: largest CPU time of a run in seconds, default 60", false},
    {"-o", "FILE", "draws the errors to FILE.svg, .pdf or .png", CLI_WRITES},
    {"--force", NULL, "overwrites existing files", CLI_ONCE},
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
    {"--force", NULL, "overwrites existing files", CLI_ONCE},
    {"--help", NULL, "prints this text", false},
};

static const cli_option solve_options[] = {
    {"--solver", "NAME", "one solver instead of the portfolio (a wrong name lists them)", false},
    {"--tol", "T", "residual relative to |q|, default 1e-8", false},
    {"--threads", "N",
     "1 to 64, for friction problems with 1000 contacts or more; results do not depend on it",
     false},
    {"--option", "NAME=VALUE", "sets an option of the solver", true},
    {"--dump", "FILE", "writes the first problem that was not solved to FILE", CLI_WRITES},
    {"--force", NULL, "overwrites existing files", CLI_ONCE},
    {"--json", NULL, "prints the results as JSON", false},
    {"--help", NULL, "prints this text", false},
};

static const cli_option convert_options[] = {
    {"-o", "FILE", "writes the scene to FILE.yaml; default: the standard output", CLI_WRITES},
    {"--force", NULL, "lets -o overwrite an existing file", false},
    {"--base", "fixed|free",
     "support of the root link; default: fixed if it is called world or has no inertial, else free",
     false},
    {"--keyframe", "NAME", "MJCF: start at this keyframe; default: the reference configuration",
     false},
    {"--no-shapes", NULL, "MJCF: leaves out all shapes, hence all contacts", false},
    {"--parts", "N", "meshes that move become up to N convex hulls, 1 to 64; default one hull",
     false},
    {"--merge", NULL, "merges links connected by fixed joints into one body", false},
    {"--ground", "Z", "adds a floor at height Z [m]", false},
    {"--friction", "MU", "friction coefficient of all contacts, of MJCF of the floor; default 0",
     false},
    {"--coordinates", "bodies|joints",
     "coordinates of the scene; default joints, of MJCF always joints", false},
    {"--json", NULL, "prints counts and untranslated elements as JSON", false},
    {"--help", NULL, "prints this text", false},
};

static const cli_option export_options[] = {
    {"-o", "FILE", "writes to FILE; default: the name of the scene with .fmu or .c", CLI_WRITES},
    {"--force", NULL, "lets -o overwrite an existing file", false},
    {"--fmi", "3|2", "fmu: version of FMI; default 3", false},
    {"--set", "NAME=VALUE", "replaces a parameter or a start", CLI_REPEATS},
    {"--tol", "T", "fmu: tolerance of the exported model; default: that of the scene", false},
    {"--scheme", "NAME", "scheme of the exported model; default: that of the scene", false},
    {"--step", "H", "step of the exported model [s]; default: that of the scene", false},
    {"--prefix", "NAME", "c: prefix of all names; default: model", false},
    {"--binary", "FILE", "fmu: shared object of all FMUs; default: the installed saltus_fmu.so",
     false},
    {"--help", NULL, "prints this text", false},
};

static const cli_option bench_options[] = {
    {"--tol", "T", "residual relative to |q|, default 1e-8", false},
    {"--solver", "NAME", "compares only these solvers with the portfolio", true},
    {"--siconos", NULL, "also solvers of Siconos numerics, if installed", false},
    {"-o", "FILE", "draws the profiles to FILE.svg, .pdf or .png", CLI_WRITES},
    {"--force", NULL, "overwrites existing files", CLI_ONCE},
    {"--json", NULL, "prints the times as JSON", false},
    {"--help", NULL, "prints this text", false},
};

static const cli_option lab_options[] = {
    {"--impact", "N", "number of the impact in the scene, default 1", false},
    {"--set", "NAME=VALUE", "replaces a parameter of the scene", true},
    {"--W", "X,...", "without a scene: W of one contact row by row, normal first [kg^-1]", false},
    {"--U", "X,...", "velocities before the impact: normal, then none, one or two tangents [m/s]",
     false},
    {"--mu", "X", "friction coefficient, default 0", false},
    {"--e", "X", "normal restitution, default 0", false},
    {"--e-T", "X", "tangential restitution, -1 to 1, default 0", false},
    {"--contact", "NAME", "friction: contact of the scene, default: the first with friction",
     false},
    {"--force", "X", "friction: normal force, default 1 N", false},
    {"-o", "FILE",
     "draws the impulse plane of one planar contact, or friction, to FILE.svg, .pdf or .png",
     CLI_WRITES},
    {"--json", NULL, "prints JSON", false},
    {"--help", NULL, "prints this text", false},
};

static const cli_option fit_options[] = {
    {"--evaluate", NULL, "errors of the given values, without a fit", false},
    {"--set", "NAME=VALUE", "replaces a parameter; of an unknown: its initial guess", true},
    {"--window", "FROM:FRAMES", "window of the loss: start:all, or COLUMN:10", false},
    {"--where", "CONDITION", "experiments that are used, by columns of the index", false},
    {"--data", "FILE", "file of the measurements", false},
    {"--folds", "N", "errors of experiments that are held out, each in one of N parts", false},
    {"--bootstrap", "N", "intervals by N fits to experiments drawn with replacement", false},
    {"--profile", "NAMES", "loss over each of these parameters, the others estimated", false},
    {"--seed", "N", "of the parts and the drawn experiments; default 1", false},
    {"--time-limit", "S", "ends a run after so many seconds of computing time; default 10", false},
    {"--threads", "N", "1 to 64; default: all of the machine; results do not depend on it", false},
    {"-o", "FILE", "writes the errors of every experiment to FILE.csv", CLI_WRITES},
    {"--report", "FILE", "writes a page FILE.html with figures", CLI_WRITES},
    {"--force", NULL, "overwrites existing files", CLI_ONCE},
    {"--json", NULL, "prints JSON", false},
    {"--help", NULL, "prints this text", false},
};
static const cli_option optimize_options[] = {
    {"--variable", "NAME=LOW:HIGH",
     "parameter, start x or velocity x' of a coordinate, with its bounds; with \" log\" a scale of "
     "factors",
     true},
    {"--minimize", "MEASURE",
     "measure of a run as in saltus sweep; mean of MEASURE and quantile 0.95 of MEASURE are over "
     "the samples",
     false},
    {"--maximize", "MEASURE", "the same, to be as large as possible", false},
    {"--constraint", "CONDITION", "MEASURE <= NUMBER, MEASURE >= NUMBER or MEASURE = NUMBER", true},
    {"--find", "CONDITION", "locates the value of one variable at which it begins to hold", false},
    {"--random", "AXIS", "NAME~normal(MEAN,DEVIATION) and others, as in saltus sweep", true},
    {"--samples", "N", "draws random axes N times, the same for all values", false},
    {"--sampling", "NAME", "random, latin or sobol; default random", false},
    {"--seed", "N", "seed of samples and global searches; default 0", false},
    {"--method", "NAME", "auto, gradient, local or global; default auto", false},
    {"--tolerance", "X", "least change of the variables, in parts of their bounds; default 1e-6",
     false},
    {"--evaluations", "N", "most evaluations of one search; default 1000", false},
    {"--scheme", "NAME", "time-stepping scheme (saltus list schemes)", false},
    {"--step", "H", "step in seconds", false},
    {"--until", "T", "end time in seconds", false},
    {"--tol", "X", "accuracy rtol = atol = X instead of a step", false},
    {"--control", "NAME", "step-size controller (saltus list controls)", false},
    {"--control-option", "NAME=VALUE", "sets an option of the controller", true},
    {"--option", "NAME=VALUE", "sets an option of the scheme", true},
    {"--set", "NAME=VALUE", "replaces a parameter; of a variable: its first value", true},
    {"--time-limit", "S", "computing time after which a run counts as failed, seconds", false},
    {"--threads", "N", "1 to 64; default: all of the machine; results do not depend on it", false},
    {"-o", "FILE", "writes every evaluation to FILE.csv", CLI_WRITES},
    {"--force", NULL, "overwrites existing files", CLI_ONCE},
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
     "value of a run: max(q), min, first, last, mean, rms, integral of formulas; time(impact of "
     "floor), count(impact); max(force of pin), sum(impulse of floor), wear(floor), and formulas "
     "of these",
     true},
    {"--samples", "N", "draws random axes N times", false},
    {"--sampling", "NAME", "random, latin or sobol; default random", false},
    {"--seed", "N", "seed of the random axes; default 0", false},
    {"--scheme", "NAME", "time-stepping scheme (saltus list schemes)", false},
    {"--step", "H", "step in seconds", false},
    {"--until", "T", "end time in seconds", false},
    {"--tol", "X", "accuracy rtol = atol = X instead of a step", false},
    {"--rtol", "X", "relative tolerance alone", false},
    {"--atol", "X", "absolute tolerance alone, in the units of the coordinates", false},
    {"--control", "NAME", "step-size controller (saltus list controls)", false},
    {"--control-option", "NAME=VALUE", "sets an option of the controller", true},
    {"--set", "NAME=VALUE", "replaces a parameter of the scene in all runs", true},
    {"--option", "NAME=VALUE", "sets an option of the scheme", true},
    {"--time-limit", "S", "computing time after which a run counts as failed, seconds", false},
    {"--threads", "N", "1 to 64; default: all of the machine; results do not depend on it", false},
    {"--shard", "I/N", "computes part I of N, for job arrays; saltus merge combines the parts",
     false},
    {"--backend", "NAME",
     "interpreter, c (members compiled by $CC or cc), opencl, cuda, or auto: where possible; "
     "c-fast, "
     "opencl-fast, cuda-fast contract products and sums",
     false},
    {"--devices", "LIST", "devices of opencl and cuda, as in 0,2; default: all", false},
    {"--restart", NULL, "discards the table of an earlier sweep and starts again", false},
    {"-o", "FILE", "writes the table to FILE.h5, FILE.csv or, as it is computed, FILE.runs", true},
    {"--figure", "FILE", "draws measures over the axes to FILE.svg, .pdf or .png",
     CLI_WRITES | CLI_REPEATS},
    {"--force", NULL, "overwrites existing files", CLI_ONCE},
    {"--verbose", NULL,
     "prints the whole summary and notes: options, limits of steps, work, all outputs, residuals",
     false},
    {"--json", NULL, "prints the summary as JSON", false},
    {"--help", NULL, "prints this text", false},
};
static const cli_option orbit_options[] = {
    {"--period", "T", "period in seconds; a formula of the parameters: 2*pi/w", false},
    {"--section", "EVENT",
     "Poincare section: the state right after an event, \"impact of floor\", \"stick\"", false},
    {"--count", "N", "number of periods or events of the orbit; default 1", false},
    {"--drift", "NAME", "a coordinate with a constant increment per period that enters no equation",
     true},
    {"--after", "T",
     "initial guess: the motion after T seconds; default: the start, or its first section", false},
    {"--follow", "NAME=FROM:TO:COUNT",
     "follows the orbit over a parameter and reports period doublings, folds and ends", false},
    {"--set", "NAME=VALUE", "replaces a parameter of the scene", true},
    {"--tol", "X", "accuracy of runs, rtol = atol; default 1e-11", false},
    {"--json", NULL, "prints JSON", false},
    {"--help", NULL, "prints this text", false},
};
static const cli_option map_options[] = {
    {"--period", "T", "samples the motion every T seconds; a formula of the parameters: 2*pi/w",
     false},
    {"--section", "EVENT", "samples the motion right after every such event: \"impact of floor\"",
     false},
    {"--skip", "N", "discards the first N samples; default 100", false},
    {"--points", "N", "number of samples; default 100", false},
    {"--over", "NAME=FROM:TO:COUNT",
     "for each value of a parameter, continued from the final state of the value before", false},
    {"--both", NULL, "with increasing, then with decreasing values", false},
    {"--show", "NAME", "coordinate or velocity in the figure; default: the first velocity", false},
    {"--set", "NAME=VALUE", "replaces a parameter of the scene", true},
    {"--tol", "X", "accuracy, rtol = atol; default 1e-9", false},
    {"-o", "FILE", "writes FILE.csv", CLI_WRITES},
    {"--figure", "FILE", "draws FILE.svg, .pdf or .png", CLI_WRITES},
    {"--force", NULL, "overwrites existing files", CLI_ONCE},
    {"--help", NULL, "prints this text", false},
};
static const cli_option merge_options[] = {
    {"-o", "FILE", "writes the table to FILE.h5, FILE.csv or FILE.runs", true},
    {"--figure", "FILE", "draws measures over the axes to FILE.svg, .pdf or .png",
     CLI_WRITES | CLI_REPEATS},
    {"--force", NULL, "overwrites existing files", CLI_ONCE},
    {"--verbose", NULL,
     "prints the whole summary and notes: options, limits of steps, work, all outputs, residuals",
     false},
    {"--json", NULL, "prints the summary as JSON", false},
    {"--help", NULL, "prints this text", false},
};
static const cli_option verify_options[] = {
    {"--tol", "X", "granted tolerance; default: that of the recording, at most 1e-3", false},
    {"--set", "NAME=VALUE", "replaces a parameter of the scene", true},
    {"--json", NULL, "prints the certificate as JSON", false},
    {"--help", NULL, "prints this text", false},
};

static const cli_option report_options[] = {
    {"-o", "FILE", "FILE.html; default: beside the recording", false},
    {"--pdf", "FILE", "also prints the page to FILE.pdf, with chromium", CLI_WRITES},
    {"--measured", "FILE", "draws the columns of FILE.csv beside curves of equal names", false},
    {"--no-certificate", NULL, "omits the certificate", false},
    {"--set", "NAME=VALUE", "replaces a parameter of the scene", true},
    {"--force", NULL, "lets -o overwrite a file that is not a report", false},
    {"--help", NULL, "prints this text", false},
};

static const cli_option vtk_options[] = {
    {"-o", "DIR", "folder of the files; default: RECORDING.vtk", false},
    {"--frames", "N", "largest number of states, those at events first; default 500", false},
    {"--around", "N", "corners of a circle, 8 to 256; default 24", false},
    {"--set", "NAME=VALUE", "replaces a parameter of the scene", true},
    {"--force", NULL, "writes into a folder that is not empty", false},
    {"--help", NULL, "prints this text", false},
};

static const cli_option compare_options[] = {
    {"--match", "S", "events of one contact more than S seconds apart are not matched", false},
    {"--any", NULL, "accepts recordings of different scenes with the same coordinates", false},
    {"--events", NULL, "prints all events, not the first twenty", false},
    {"-o", "FILE", "draws both and their differences to FILE.svg, .pdf or .png", CLI_WRITES},
    {"--force", NULL, "overwrites existing files", CLI_ONCE},
    {"--json", NULL, "prints JSON", false},
    {"--help", NULL, "prints this text", false},
};

static const cli_option view_options[] = {
    {"--scheme", "NAME", "of a scene: time-stepping scheme", false},
    {"--step", "H", "of a scene: step in seconds", false},
    {"--tol", "X", "of a scene: accuracy instead of a step", false},
    {"--until", "T", "of a scene: end time in seconds", false},
    {"--set", "NAME=VALUE", "replaces a parameter of the scene", true},
    {"--option", "NAME=VALUE", "of a scene: sets an option of the scheme", true},
    {"--output-dt", "DT", "of a scene: records every DT seconds, wherever steps end", false},
    {"-o", "FILE", "FILE.html; default: in a new folder for temporary files", false},
    {"--no-certificate", NULL, "omits the certificate", false},
    {"--no-open", NULL, "writes the page without opening it", false},
    {"--force", NULL, "lets -o overwrite a file that is not a report", false},
    {"--help", NULL, "prints this text", false},
};

static const cli_command commands[] = {
    {"run", "MODEL", "simulates a scene or a reference problem",
     "MODEL is a scene file (.yaml), - for a scene on the standard input, or the name of a "
     "reference\n"
     "problem (saltus list problems).\n"
     "Ctrl-C or SIGTERM stops the run with its last state recorded; a second one ends it at once.",
     run_options, COUNT(run_options), 1, 1, cli_run},
    {"resume", "FILE", "continues a run that ended or was stopped",
     "FILE is a snapshot (saltus run --snapshot), which contains the memory of the scheme. After "
     "an\ninterruption, and always with fixed steps, the continuation is bitwise identical to "
     "an\nuninterrupted run; the last step of a completed run to a tolerance was shortened to its "
     "end.\nOr FILE is a recording: the run continues from its last state with the same scheme, "
     "options and\nstep, without the memory of the scheme.",
     resume_options, COUNT(resume_options), 1, 1, cli_resume},
    {"check", "MODEL", "validates a model and describes it, without a run",
     "Prints coordinates, the derived mass matrix, gaps and joints at the start; of bodies the "
     "assembly of\njoints, mobility and masses. Compares every derivative with finite differences.",
     check_options, COUNT(check_options), 1, 1, cli_check},
    {"info", "FILE", "describes the contents of a recording",
     "FILE is a recording (.h5 or .csv), complete or interrupted.", info_options,
     COUNT(info_options), 1, 1, cli_info},
    {"reduce", "NAME", "reduces finite-element matrices to a flexible body",
     "NAME.sti, NAME.mas, NAME.dof and NAME.inp are files of CalculiX (SOLVER=MATRIXSTORAGE); "
     "others by\noptions. Prints mass, frequencies, effective masses and the mass that the modes "
     "omit.",
     reduce_options, COUNT(reduce_options), 1, 1, cli_reduce},
    {"sweep", "SCENE", "runs a parameter study of a scene and tabulates measures of every run",
     "saltus sweep scenes/ball.yaml --axis 'q=0.5:2:31' --measure 't=time(accumulation)' --tol "
     "1e-8 -o heights.csv\nThe same command continues a sweep that was stopped, even by kill -9. "
     "The table has the reasons of\nfailed runs. mpirun saltus sweep ... distributes the runs if "
     "the program was built with MPI.",
     sweep_options, COUNT(sweep_options), 1, 1, cli_sweep},
    {"fit", "SCENE", "estimates parameters of a scene from measured motions",
     "saltus fit cube.yaml --folds 5\n"
     "saltus fit cube.yaml --evaluate --set mu=0.17\n"
     "saltus fit cube.yaml --bootstrap 100 --profile mu,e --report cube.html\n"
     "The section fit of the scene has the data and the unknowns.",
     fit_options, COUNT(fit_options), 1, 1, cli_fit},
    {"orbit", "SCENE", "finds a periodic orbit through impacts and friction, and its multipliers",
     "saltus orbit scenes/woodpecker.yaml --section 'impact of beak' --drift y\n"
     "Newton's method on the return map, with derivatives by variational equations and saltation.",
     orbit_options, COUNT(orbit_options), 1, 1, cli_orbit},
    {"map", "SCENE",
     "samples a motion every period or at every event, over a parameter (bifurcation diagrams)",
     "saltus map scenes/shaken-ball.yaml --period '2*pi/w' --over G=0.8:1.4:200 --both --figure "
     "cascade.svg",
     map_options, COUNT(map_options), 1, 1, cli_map},
    {"optimize", "SCENE",
     "minimises a measure under constraints, or locates the edge of a condition",
     "saltus optimize valve.yaml --variable k=100:1e4 --find 'count(open of follower) = 0'\n"
     "saltus optimize press.yaml --variable m=1:9 --minimize 'max(abs(x))' --constraint 'last(v) "
     "<= 2'\n"
     "The section optimize of the scene may have the same. A failed run ends the search.",
     optimize_options, COUNT(optimize_options), 1, 1, cli_optimize},
    {"merge", "FILE.runs...", "combines the tables of the shards of a sweep",
     "Exit code 1 if runs are missing.", merge_options, COUNT(merge_options), 1, CLI_MOST,
     cli_merge},
    {"verify", "RECORDING [SCENE]", "verifies a recording by an independent recomputation",
     "Recomputes the motion from the recorded states and the scene (that of the recording, or "
     "SCENE), and\nprints each item with its largest error and limit. Exit code 1 if an item "
     "fails.",
     verify_options, COUNT(verify_options), 1, 2, cli_verify},
    {"compare", "A B", "measures the distance between two recordings of one scene",
     "Compares positions at the instants of both, graphs of velocities (Hausdorff distance), and "
     "matched events.",
     compare_options, COUNT(compare_options), 2, 2, cli_compare},
    {"plot", "FILE", "draws a recording",
     "Coordinates, velocities with their jumps, outputs, contact impulses and forces, energy, "
     "events.",
     plot_options, COUNT(plot_options), 1, 1, cli_plot},
    {"report", "RECORDING", "writes a recording as a page for browsers",
     "One file with animation, curves, events, certificate and scene; no network is needed.",
     report_options, COUNT(report_options), 1, 1, cli_report_command},
    {"view", "MODEL|RECORDING", "opens a scene or a recording in a browser",
     "Runs a scene first; writes the page of saltus report and opens it.", view_options,
     COUNT(view_options), 1, 1, cli_view},
    {"vtk", "RECORDING", "writes a recording as files for ParaView",
     "Surfaces of moving bodies, contacts with their forces, and fixed surfaces: bodies.pvd, "
     "contacts.pvd,\nground.vtp.",
     vtk_options, COUNT(vtk_options), 1, 1, cli_vtk},
    {"study", "NAME [MODEL]", "runs a study and checks its claims",
     "Exit code 0 only if every claim holds. `saltus study converge MODEL` measures errors "
     "and\norders of any scheme on any model.",
     study_options, COUNT(study_options), 1, 2, cli_study},
    {"solve", "FILE...", "solves contact and complementarity problems from files",
     "FILE is a problem in the text format of Siconos (.dat; its name determines the kind: gfc* "
     "global\nfriction, lcp* complementarity, *mlcp* mixed, others local friction) or of FCLIB "
     "(.hdf5).\nExit code 0 only if every problem was solved; a problem without a solution is not.",
     solve_options, COUNT(solve_options), 1, CLI_MOST, cli_solve},
    {"convert", "ROBOT", "converts a robot in URDF or MJCF to an editable scene",
     "ROBOT is a URDF or MJCF file. Elements without a counterpart are listed with their lines, "
     "also at "
     "the end\nof the scene.",
     convert_options, COUNT(convert_options), 1, 1, cli_convert},
    {"export", "fmu|c SCENE", "exports a scene as a model for other programs",
     "fmu: a functional mock-up unit for co-simulation (FMI 3.0 or 2.0), with events at impacts.\n"
     "c: C99 without library and allocation, of scenes by formulas with moreau-jean.",
     export_options, COUNT(export_options), 2, 2, cli_export},
    {"bench", "solvers DIR", "measures times of solvers on the problem files of a folder",
     "Prints performance profiles: the fraction of problems that a solver solves within tau times "
     "the\ntime of the fastest. Times are CPU times of the solve, the smallest of several.",
     bench_options, COUNT(bench_options), 2, 2, cli_bench},
    {"lab", "impact|friction [MODEL]",
     "compares all impact laws on one configuration, or evaluates a friction law over slip",
     "impact: the configuration at an impact of a scene, located to 1e-10, or given by numbers. "
     "Prints\nimpulses, velocities after the impact, the three parts of the energy, and phases "
     "(slip, stick,\nreverse, jam).\nfriction: of a contact of a scene, or of a law as written in "
     "scenes; force against slip and spin.",
     lab_options, COUNT(lab_options), 1, 2, cli_lab},
    {"list", "schemes|controls|solvers|problems|studies|functions|laws [NAME]",
     "lists schemes, controllers, solvers, problems, studies, functions or laws",
     "With a NAME: only this entry, with its source and options.", list_options,
     COUNT(list_options), 1, 2, cli_list},
};

const cli_command* cli_commands(int* count) {
  *count = COUNT(commands);
  return commands;
}
