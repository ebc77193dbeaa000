/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * keys.c - the keys of a scene, section by section. This is the only list of them: the reader
 * rejects all other keys, and the reference page is checked against it.
 */
#include "saltus/scene.h"

#include "scene/reader.h"

#include <assert.h>
#include <string.h>

static const saltus_scene_key scene_keys[] = {
    {"", "saltus", "number", "version of the format: 1"},
    {"", "name", "text", "title of the scene"},
    {"", "description", "text", "more about it; not used in computations"},
};

static const saltus_scene_key model_keys[] = {
    {"", "parameters", "mapping", "named constants by formulas; may use each other and pi"},
    {"", "coordinates", "mapping", "generalized coordinates, in the order of the state"},
    {"", "inputs", "mapping", "values set from outside between steps, at the start"},
    {"", "kinetic", "formula", "kinetic energy [J], quadratic in the velocities (x')"},
    {"", "potential", "formula", "potential energy [J] of positions and time; default 0"},
    {"", "world", "mapping", "dimension and gravity of a scene with bodies"},
    {"", "bodies", "mapping", "rigid bodies"},
    {"", "beams", "mapping", "flexible beams, belts and cables as chains of links"},
    {"", "markers", "mapping", "points with axes, on bodies or in the world"},
    {"", "materials", "mapping", "materials of shapes"},
    {"", "contact_pairs", "list", "exceptions for contacts between shapes"},
    {"", "forces", "mapping of formulas, or list",
     "generalized forces beyond the potential [unit], by coordinate; or forces at markers"},
    {"", "springs", "list", "springs and dampers"},
    {"", "joints", "list", "bilateral constraints"},
    {"", "contacts", "list", "unilateral constraints"},
    {"", "elements", "list", "machine elements between markers: clearances, stops, cams, gears"},
    {"", "dry_friction", "list", "dry friction of velocities that are no contact's slip"},
    {"", "impacts", "mapping", "law of simultaneous impacts, and response to a gain of energy"},
};

static const saltus_scene_key running_keys[] = {
    {"", "outputs", "mapping of formulas",
     "additional quantities that are recorded and drawn, by name"},
    {"", "events", "mapping of formulas", "functions whose zeros are reported, by name"},
    {"", "view", "list", "drawings by formulas; bodies and shapes are drawn automatically"},
    {"", "simulate", "mapping", "how to run it; the command line overrides"},
    {"", "record", "mapping", "what to keep"},
    {"", "reference", "text", "reference problem or CSV file with the exact motion"},
    {"", "fit", "mapping", "measurements and unknown parameters, for saltus fit"},
    {"", "optimize", "mapping", "variables, objective and constraints, for saltus optimize"},
};

static const saltus_scene_key include_keys[] = {
    {"", "include", "mapping or list", "robots in URDF or MJCF whose entries are added"},
    {"include", "robot", "text", "file, relative to the scene"},
    {"include", "as", "text", "prefix of all names, with _; default none"},
    {"include", "position", "list of numbers", "of the root link [m]; default 0"},
    {"include", "base", "text", "fixed or free; default as saltus convert"},
    {"include", "keyframe", "text", "start of MJCF; default its reference configuration"},
};

static const saltus_scene_key coordinate_keys[] = {
    {"parameters.NAME", "value", "formula", "the constant [unit]"},
    {"parameters.NAME", "unit", "text", "unit, for exported models; default none"},
    {"inputs.NAME", "start", "formula", "value at the start [unit]; default 0"},
    {"inputs.NAME", "unit", "text", "unit, for exported models; default none"},
    {"coordinates.NAME", "start", "formula", "position at the start [unit]; default 0"},
    {"coordinates.NAME", "velocity", "formula", "velocity at the start [unit/s]; default 0"},
    {"coordinates.NAME", "unit", "text", "unit, for headers and axes; default none"},
    {"coordinates.NAME", "tolerance", "formula",
     "absolute tolerance of the position [unit]; default that of the scheme"},
    {"coordinates.NAME", "velocity_tolerance", "formula",
     "absolute tolerance of the velocity [unit/s]; default that of the scheme"},
};

static const saltus_scene_key world_keys[] = {
    {"world", "dimension", "2 or 3", "the plane or space; default 2"},
    {"world", "gravity", "list of formulas",
     "acceleration [m/s^2]; default 9.81 downwards, along -y in the plane, -z in space"},
    {"world", "shapes", "list", "shapes that do not move"},
    {"world", "coordinates", "bodies or joints",
     "velocities of each body and rows for each joint, or velocities of joints; default bodies"},
};

static const saltus_scene_key material_keys[] = {
    {"materials.NAME", "friction", "formula or mapping",
     "coefficient, >= 0; of two materials the geometric mean; default 0"},
    {"materials.NAME", "viscous", "formula", "viscous friction [N s/m]; default 0"},
    {"materials.NAME", "rolling", "formula", "arm of the resistance to rolling [m]"},
    {"materials.NAME", "drilling", "formula", "arm of the resistance to spin [m]"},
    {"materials.NAME", "patch", "formula or mapping", "radius of a disc of contact [m]"},
    {"materials.NAME", "adhesion", "formula or mapping", "force of a bond [N]"},
    {"materials.NAME", "restitution", "formula",
     "0 to 1; of two materials the larger one; default 0"},
    {"materials.NAME", "impact_friction", "formula",
     "coefficient of impacts, >= 0; combined like friction; default friction"},
    {"materials.NAME", "tangential_restitution", "formula", "-1 to 1; the same; default 0"},
    {"materials.NAME", "impact", "word",
     "impact law, as of contacts; of two materials the one that is not newton"},
};

static const saltus_scene_key contact_pair_keys[] = {
    {"contact_pairs[]", "between", "list of names", "two shapes, bodies, groups or materials"},
    {"contact_pairs[]", "collide", "true or false",
     "false: they never touch; true: although a joint connects them or a group is common"},
    {"contact_pairs[]", "friction", "formula or mapping", "instead of that of the materials"},
    {"contact_pairs[]", "viscous", "formula", "the same [N s/m]"},
    {"contact_pairs[]", "rolling", "formula", "the same [m]"},
    {"contact_pairs[]", "drilling", "formula", "the same [m]"},
    {"contact_pairs[]", "patch", "formula or mapping", "the same [m]"},
    {"contact_pairs[]", "adhesion", "formula or mapping", "the same [N]"},
    {"contact_pairs[]", "restitution", "formula", "the same"},
    {"contact_pairs[]", "impact_friction", "formula", "the same"},
    {"contact_pairs[]", "tangential_restitution", "formula", "the same"},
    {"contact_pairs[]", "impact", "word", "the same"},
    {"contact_pairs[]", "stiffness", "formula", "ratio for impacts of order lzb, > 0; default 1"},
};

static const saltus_scene_key shape_keys[] = {
    {"shapes[]", "name", "text", "name, unique; default BODY.1 and so on"},
    {"shapes[]", "position", "list of formulas", "of its own origin, in body axes [m]; default 0"},
    {"shapes[]", "angle", "formula", "of its own axes [rad], in the plane; default 0"},
    {"shapes[]", "orientation", "mapping", "of its own axes, in space; default the body's"},
    {"shapes[]", "material", "text",
     "a name of materials; default \"default\", or no friction and no restitution"},
    {"shapes[]", "groups", "list of names", "shapes with a group in common do not touch"},
    {"shapes[]", "visual", "true or false",
     "drawn only, without contacts, in space; default false"},
    {"shapes[]", "colour", "list of formulas", "of a visual: red, green, blue, 0 to 1"},
    {"shapes[]", "circle", "mapping", "plane: radius, hollow"},
    {"shapes[]", "segment", "mapping", "plane: two points, free on their left; radius: a bar"},
    {"shapes[]", "polygon", "mapping", "plane: points counter-clockwise, radius"},
    {"shapes[]", "half-plane", "mapping", "all below y = 0 of its own axes"},
    {"shapes[]", "chain", "mapping", "plane: points, bulges, closed; free on its left"},
    {"shapes[]", "capsule", "mapping", "radius, length; along x in the plane, z in space"},
    {"shapes[]", "sphere", "mapping", "radius, hollow"},
    {"shapes[]", "box", "mapping", "size, radius"},
    {"shapes[]", "cylinder", "mapping", "radius, length; along z"},
    {"shapes[]", "cone", "mapping", "radius, length; base at z = 0, tip at z = length"},
    {"shapes[]", "ellipsoid", "mapping", "size: semi-axes"},
    {"shapes[]", "torus", "mapping", "size: radius of the circle; radius: of the tube"},
    {"shapes[]", "half-space", "mapping", "all below z = 0 of its own axes"},
    {"shapes[]", "hull", "mapping", "convex hull of points or of a file, radius"},
    {"shapes[]", "mesh", "mapping", "points and triangles, or a file"},
    {"shapes[]", "heightfield", "mapping", "heights, spacing"},
};

static const saltus_scene_key kind_keys[] = {
    {"shapes[].KIND", "radius", "formula", "[m]; rounds boxes, polygons and hulls outside"},
    {"shapes[].KIND", "length", "formula", "[m]; of a capsule between the centres of its ends"},
    {"shapes[].KIND", "size", "list of formulas, or formula",
     "[m]; edges of a box, semi-axes of an ellipsoid, radius of a torus"},
    {"shapes[].KIND", "hollow", "true or false", "the free side is inside; default false"},
    {"shapes[].KIND", "closed", "true or false",
     "chain: the last point is joined to the first; default false"},
    {"shapes[].KIND", "points", "list of lists of formulas", "[m], in the shape's own axes"},
    {"shapes[].KIND", "bulges", "list of formulas",
     "chain: tan(angle / 4) of the arc of each segment; default 0, straight"},
    {"shapes[].KIND", "triangles", "list of lists",
     "places of points, from 0 on; of a hull: fans of its faces, which are not computed then"},
    {"shapes[].KIND", "file", "text", "STL, OBJ or COLLADA file, from the folder of the scene"},
    {"shapes[].KIND", "scale", "formula, or list of formulas",
     "[m] for each unit of the file, or of x, y, z; negative: mirrored; default 1"},
    {"shapes[].KIND", "parts", "formula",
     "hull: convex parts of a mesh, 1 to 64, named NAME_1 and so on; default 1, one hull"},
    {"shapes[].KIND", "heights", "list of lists of formulas", "[m], row by row"},
    {"shapes[].KIND", "spacing", "list of formulas", "between columns and rows [m]"},
};

static const saltus_scene_key body_keys[] = {
    {"bodies.NAME", "mass", "formula", "mass [kg], > 0"},
    {"bodies.NAME", "inertia", "formula, or list",
     "about the centre of mass [kg m^2]; in space [xx, yy, zz] or [xx, yy, zz, xy, xz, yz]"},
    {"bodies.NAME", "inertia_frame", "marker or mapping",
     "axes of the inertia: a marker on the body, directly or relative to others, or an "
     "orientation; default the body's"},
    {"bodies.NAME", "position", "list of formulas", "centre of mass at the start [m]; default 0"},
    {"bodies.NAME", "angle", "formula", "angle at the start [rad], in the plane; default 0"},
    {"bodies.NAME", "orientation", "mapping", "axes at the start, in space; default the world's"},
    {"bodies.NAME", "velocity", "list of formulas",
     "velocity of the centre of mass at the start [m/s]; default 0"},
    {"bodies.NAME", "angular_velocity", "formula, or list",
     "at the start [rad/s], in space in body axes; default 0"},
    {"bodies.NAME", "frame", "world or body", "axes of both velocities, instead of the usual ones"},
    {"bodies.NAME", "fixed", "true or false", "stays where it starts; default false"},
    {"bodies.NAME", "driven", "mapping", "pose as formulas of time"},
    {"bodies.NAME", "flexible", "text",
     "file of saltus reduce, from the folder of the scene, instead of mass and inertia"},
    {"bodies.NAME", "contact_radius", "formula",
     "of balls at the contact nodes of a flexible body [m]; default 0, no contacts"},
    {"bodies.NAME", "contact_material", "text", "material of these balls; default \"default\""},
    {"bodies.NAME", "shapes", "list", "what touches"},
    {"bodies.NAME", "density", "formula",
     "[kg/m^3 or kg/m^2], the second in the plane, of its shapes, instead of mass and inertia"},
};

static const saltus_scene_key driven_keys[] = {
    {"bodies.NAME.driven", "x", "formula", "of time [m]; default 0"},
    {"bodies.NAME.driven", "y", "formula", "of time [m]; default 0"},
    {"bodies.NAME.driven", "z", "formula", "of time [m], in space; default 0"},
    {"bodies.NAME.driven", "angle", "formula", "of time [rad]; in space about the axis; default 0"},
    {"bodies.NAME.driven", "axis", "list of formulas", "of the angle, in space; constant"},
    {"bodies.NAME.driven", "rpy", "list of formulas",
     "roll, pitch and yaw of time [rad], in space; default 0"},
};

static const saltus_scene_key orientation_keys[] = {
    {"orientation", "axis", "list of formulas", "axis of any length but 0"},
    {"orientation", "angle", "formula", "about the axis [rad]"},
    {"orientation", "quaternion", "list of formulas", "w, x, y, z, of any length but 0"},
    {"orientation", "rpy", "list of formulas",
     "roll, pitch, yaw [rad]: about fixed x, then y, then z"},
};

static const saltus_scene_key marker_keys[] = {
    {"markers.NAME", "body", "text", "body it is on; default the world"},
    {"markers.NAME", "marker", "text", "marker it is relative to, instead of a body"},
    {"markers.NAME", "point", "list of formulas",
     "from the centre of mass, in body axes [m]; default 0"},
    {"markers.NAME", "angle", "formula", "of its axes [rad], in the plane; default 0"},
    {"markers.NAME", "orientation", "mapping", "of its axes, in space; default the body's"},
};

static const saltus_scene_key beam_keys[] = {
    {"beams.NAME", "between", "list of names", "markers of both ends; default both free"},
    {"beams.NAME", "ends", "list of words", "clamped, pinned or free; default clamped at markers"},
    {"beams.NAME", "points", "list of lists of formulas",
     "stress-free shape as a polyline [m]; default straight between the markers"},
    {"beams.NAME", "curve", "list of formulas of s", "the same as a curve over s = 0 to 1 [m]"},
    {"beams.NAME", "start", "list of formulas of s", "shape at the start [m], where it differs"},
    {"beams.NAME", "straight", "true or false", "stress-free is straight; default false"},
    {"beams.NAME", "closed", "true or false", "the end is joined to the start; default false"},
    {"beams.NAME", "normal", "list of formulas",
     "direction of the first axis of the section at the start of the beam, in space"},
    {"beams.NAME", "section", "mapping", "cross section"},
    {"beams.NAME", "material", "mapping", "E, nu and density"},
    {"beams.NAME", "elements", "whole number", "number of elements"},
    {"beams.NAME", "kind", "links or nodes",
     "rigid links between the nodes, or about them with half links at the ends; default links"},
    {"beams.NAME", "stretch", "true or false", "springs EA/l along the axis; default false"},
    {"beams.NAME", "damping", "formula", "damping over stiffness [s], Kelvin and Voigt; default 0"},
    {"beams.NAME", "contact", "mapping", "shapes that touch; default capsules of the section"},
    {"beams.NAME", "velocity", "list of formulas", "of the whole beam at the start [m/s]"},
    {"beams.NAME", "angular_velocity", "formula, or list",
     "about its first point at the start [rad/s], in space in world axes; default 0"},
    {"beams.NAME.section", "circle", "formula", "radius [m]"},
    {"beams.NAME.section", "tube", "list of formulas", "outer and inner radius [m]"},
    {"beams.NAME.section", "rectangle", "list of formulas",
     "along the first and second axis [m]; in the plane width and height"},
    {"beams.NAME.section", "A", "formula", "area [m^2], instead of a shape"},
    {"beams.NAME.section", "I", "formula", "second moment about the first axis [m^4]; default 0"},
    {"beams.NAME.section", "I2", "formula", "about the second axis [m^4]; default I"},
    {"beams.NAME.section", "J", "formula", "of torsion [m^4]; default I + I2"},
    {"beams.NAME.material", "E", "formula", "Young's modulus [Pa]"},
    {"beams.NAME.material", "nu", "formula", "Poisson's ratio; default 0.3"},
    {"beams.NAME.material", "density", "formula", "[kg/m^3]"},
    {"beams.NAME.contact", "at", "links, nodes, ends or none",
     "capsules, or balls at nodes or ends; default links"},
    {"beams.NAME.contact", "radius", "formula", "[m]; default that of the section; 0: none"},
    {"beams.NAME.contact", "material", "text", "a name of materials; default \"default\""},
    {"beams.NAME.contact", "self", "true or false", "the beam touches itself; default false"},
};

static const saltus_scene_key force_keys[] = {
    {"forces[]", "name", "text", "name, for messages"},
    {"forces[]", "at", "text", "marker, or body: its centre of mass"},
    {"forces[]", "coordinate", "text", "or a coordinate, whose force is one formula"},
    {"forces[]", "force", "list of formulas, or formula", "force [N]"},
    {"forces[]", "torque", "formula, or list", "torque [N m]"},
    {"forces[]", "frame", "world or marker", "axes of both; default world"},
};

static const saltus_scene_key spring_keys[] = {
    {"springs[]", "name", "text", "name, for messages"},
    {"springs[]", "elongation", "formula",
     "elongation [rad or m], zero at rest, of positions and time"},
    {"springs[]", "stiffness", "formula, or list",
     "force for each elongation [N m/rad or N/m], >= 0; default 0"},
    {"springs[]", "damping", "formula, or list",
     "force for each rate of elongation [N m s/rad or N s/m], >= 0; default 0"},
    {"springs[]", "force", "formula",
     "along the elongation [N m or N], of anything that moves; default 0"},
    {"springs[]", "type", "linear, torsional or bushing", "between markers; default linear"},
    {"springs[]", "between", "list of names", "two markers, instead of an elongation"},
    {"springs[]", "length", "formula", "without force [m], of a linear spring; default 0"},
    {"springs[]", "angle", "formula", "without force [rad], of a torsional spring; default 0"},
};

static const saltus_scene_key joint_keys[] = {
    {"joints[]", "name", "text", "name, unique"},
    {"joints[]", "constraint", "formula", "function that stays zero [unit], of positions and time"},
    {"joints[]", "velocity", "formula",
     "velocity that stays zero [unit], linear in velocities: a nonholonomic constraint"},
    {"joints[]", "type", "text",
     "fixed, revolute, prismatic, cylindrical, spherical, universal, planar, point-on-line, "
     "point-in-plane, distance, screw, gear or rack-and-pinion"},
    {"joints[]", "between", "list of names", "two markers"},
    {"joints[]", "joints", "list of names", "two earlier joints, of a gear or rack-and-pinion"},
    {"joints[]", "length", "formula", "of time [m], of a distance"},
    {"joints[]", "ratio", "formula", "of a gear: second coordinate for each of the first"},
    {"joints[]", "radius", "formula", "of the pinion [m]"},
    {"joints[]", "pitch", "formula", "of a screw [m] in a turn"},
    {"joints[]", "offset", "formula", "of a gear or rack-and-pinion [rad or m]; default 0"},
    {"joints[]", "while", "text", "input: the joint is there while it is 1, open while it is 0"},
    {"joints[]", "angle", "mapping", "what acts along the angle of a cylindrical joint or screw"},
    {"joints[]", "position", "mapping", "the same along its position"},
};

static const saltus_scene_key joint_drive_keys[] = {
    {"joints[].drive", "angle", "formula", "of time [rad]"},
    {"joints[].drive", "position", "formula", "of time [m]"},
    {"joints[].drive", "speed", "formula", "of time [rad/s or m/s], from the start on"},
};

static const saltus_scene_key joint_spring_keys[] = {
    {"joints[].dry_friction", "force", "formula", "limit [N m or N]; default 0"},
    {"joints[].dry_friction", "arm", "formula",
     "limit over the force of the joint: coefficient times radius of a pin [m]; default 0"},
    {"joints[].spring", "stiffness", "formula", "[N m/rad or N/m], >= 0; default 0"},
    {"joints[].spring", "rest", "formula", "coordinate without force [rad or m]; default 0"},
};

static const saltus_scene_key contact_keys[] = {
    {"contacts[]", "name", "text", "name, unique"},
    {"contacts[]", "gap", "formula",
     "distance [rad or m], positive when apart, of positions and time"},
    {"contacts[]", "slip", "formula", "slip velocity, or the position whose rate it is [unit]"},
    {"contacts[]", "slip2", "formula", "second tangent, for spatial friction [unit]"},
    {"contacts[]", "friction", "formula or mapping", "coefficient of friction, >= 0; default 0"},
    {"contacts[]", "viscous", "formula", "viscous friction beside it [N s/m]; default 0"},
    {"contacts[]", "rolling", "mapping", "resistance to rolling"},
    {"contacts[]", "drilling", "mapping", "resistance to spin about the normal"},
    {"contacts[]", "patch", "mapping", "slip and spin share the friction of a disc"},
    {"contacts[]", "adhesion", "formula or mapping", "force that holds the contact closed [N]"},
    {"contacts[]", "restitution", "formula", "normal restitution, 0 to 1; default 0"},
    {"contacts[]", "impact_friction", "formula",
     "friction coefficient of impacts, >= 0; default friction"},
    {"contacts[]", "tangential_restitution", "formula", "-1 to 1; default 0"},
    {"contacts[]", "impact", "word",
     "newton, poisson, poisson-printed, energetic, path-newton or path-poisson; default newton"},
};

static const saltus_scene_key element_keys[] = {
    {"elements[]", "name", "text", "name, unique"},
    {"elements[]", "type", "text",
     "journal, guide, stop, rope, wheel, rolling, gear-pair, cam, spring-contact, latch, "
     "ratchet or rolling-wheel"},
    {"elements[]", "between", "list of names", "two markers; of a gear-pair two joints"},
    {"elements[]", "clearance", "formula", "[m] radial of a journal, on each side of a guide"},
    {"elements[]", "radius", "formula",
     "[m] of journal, wheel, roller, nose of a pawl, or of a disc at a stop"},
    {"elements[]", "length", "formula", "[m] of a rope, of the block along a guide"},
    {"elements[]", "width", "formula", "[m] of the block across a guide"},
    {"elements[]", "height", "formula", "[m] of the block of a guide in space, along z"},
    {"elements[]", "radii", "list of formulas",
     "[m] base circles of a gear-pair; roots and tips of a ratchet"},
    {"elements[]", "teeth", "formula", "of a ratchet; negative: the wheel is free clockwise"},
    {"elements[]", "backlash", "formula", "[m] along the line of action, in all"},
    {"elements[]", "offset", "formula", "[m] of the middle of the backlash; default 0"},
    {"elements[]", "stiffness", "formula", "[N/m] of the spring of a spring-contact"},
    {"elements[]", "preload", "formula", "[N] its force at gap 0"},
    {"elements[]", "follower", "knife, roller or flat", "of a cam; default knife"},
    {"elements[]", "profile", "mapping", "of a cam"},
    {"elements[]", "while", "text", "input: its contacts are there while it is 1, away while 0"},
    {"elements[]", "friction", "formula or mapping", "coefficient of friction, >= 0; default 0"},
    {"elements[]", "viscous", "formula", "viscous friction beside it [N s/m]; default 0"},
    {"elements[]", "rolling", "formula", "resistance to rolling, moment over normal force [m]"},
    {"elements[]", "adhesion", "formula or mapping", "force that holds a contact closed [N]"},
    {"elements[]", "restitution", "formula", "normal restitution, 0 to 1; default 0"},
    {"elements[]", "tangential_restitution", "formula", "-1 to 1; default 0"},
    {"elements[]", "impact", "word", "impact law, as of contacts; default newton"},
    {"elements[].profile", "arcs", "list",
     "arcs that touch smoothly, by the angle of their normal"},
    {"elements[].profile", "points", "list of lists of formulas",
     "angle and radius [rad or m] of a periodic cubic spline"},
    {"elements[].profile", "formula", "formula of beta", "radius over the polar angle [m]"},
    {"elements[].profile", "slope", "formula of beta",
     "its derivative [m/rad]; needed with friction"},
    {"elements[].profile.arcs[]", "centre", "list of formulas", "[m]; default 0"},
    {"elements[].profile.arcs[]", "radius", "formula", "[m]"},
    {"elements[].profile.arcs[]", "from", "formula", "direction of its first normal [rad]"},
};

static const saltus_scene_key friction_keys[] = {
    {"contacts[].friction", "static", "formula", "coefficient of sticking"},
    {"contacts[].friction", "along", "formula", "the same along the first tangent"},
    {"contacts[].friction", "across", "formula", "along the second; default that of the first"},
    {"contacts[].friction", "rule", "word",
     "how an elliptic cone slides: associated or against-slip; default associated"},
    {"contacts[].friction", "sliding", "list of 2 formulas", "instead of a rule: nu of each axis"},
    {"contacts[].friction", "kinetic", "formula",
     "coefficient of sliding; default that of sticking"},
    {"contacts[].friction", "speed", "formula", "of Stribeck's curve down to kinetic [m/s]"},
    {"contacts[].friction", "exponent", "formula", "of that curve; default 1"},
    {"contacts[].friction", "curve", "formula", "coefficient by the speed s of slip, in m/s"},
    {"contacts[].rolling", "arm", "formula", "moment over normal force [m]"},
    {"contacts[].rolling", "rate", "formula", "angular velocity along the surface [rad/s]"},
    {"contacts[].rolling", "rate2", "formula", "the second one, where there is slip2 [rad/s]"},
    {"contacts[].drilling", "arm", "formula", "moment over normal force [m]"},
    {"contacts[].drilling", "rate", "formula", "angular velocity about the normal [rad/s]"},
    {"contacts[].patch", "radius", "formula", "of the disc [m]"},
    {"contacts[].patch", "pressure", "word", "uniform or hertz; default uniform"},
    {"contacts[].patch", "form", "word", "exact or ellipsoid; default exact"},
    {"contacts[].patch", "rate", "formula", "angular velocity about the normal [rad/s]"},
    {"contacts[].adhesion", "force", "formula", "that the bond pulls at most [N]"},
    {"contacts[].adhesion", "rebinds", "true or false",
     "touching restores the bond; default false"},
    {"contacts[].adhesion", "shear", "formula",
     "held along tangents [N]; default friction * force"},
    {"dry_friction[]", "name", "text", "name"},
    {"dry_friction[]", "rate", "formula", "velocity that it acts against [unit], as a slip"},
    {"dry_friction[]", "force", "formula", "limit [N m or N]; default 0"},
    {"dry_friction[]", "arm", "formula", "limit over the reaction of a joint [unit]; default 0"},
    {"dry_friction[]", "joint", "text", "that joint, by formula"},
};

static const saltus_scene_key impact_keys[] = {
    {"impacts", "order", "word", "simultaneous, sequential, lzb or moreau; default simultaneous"},
    {"impacts", "pick", "word",
     "next contact of a sequence: fastest, first, last, cyclic or events; default fastest"},
    {"impacts", "exponent", "formula", "of the springs of lzb, 1 to 3; default 1"},
    {"impacts", "stiffness", "mapping of formulas", "ratios for lzb by contact; default 1"},
    {"impacts", "restitution", "formula", "of order moreau: of all contacts, 0 to 1"},
    {"impacts", "energy", "word",
     "after a gain: report, cap, poisson, energetic, tangential or stop; default report"},
    {"impacts", "matrix", "mapping", "contacts with the impact law U+ = -E U-"},
    {"impacts.matrix", "contacts", "list of names", "contacts without friction"},
    {"impacts.matrix", "rows", "list of lists of formulas", "E, row by row"},
};

static const saltus_scene_key output_keys[] = {
    {"outputs.NAME", "formula", "formula", "of time, positions and velocities [unit]"},
    {"outputs.NAME", "unit", "text", "unit, for headers and axes; default none"},
    {"outputs.NAME", "in", "text", "instead: the formula is in SI units, the output in this one"},
};

static const saltus_scene_key event_keys[] = {
    {"events.NAME", "formula", "formula", "of time, positions and velocities [unit]"},
    {"events.NAME", "direction", "rising, falling or both",
     "which passages through zero; default both"},
    {"events.NAME", "set", "mapping of formulas", "inputs that get new values there [unit]"},
};

static const saltus_scene_key view_keys[] = {
    {"view[]", "type", "word", "point, line, circle, box, spring, text or contact"},
    {"view[]", "name", "text", "for messages"},
    {"view[]", "at", "list of formulas", "place [m], two in the plane, three in space"},
    {"view[]", "points", "list of lists of formulas", "of a line or spring [m]"},
    {"view[]", "radius", "formula", "of a circle [m]; in space it is a sphere"},
    {"view[]", "size", "list of formulas", "lengths of a box [m]"},
    {"view[]", "angle", "formula", "of a circle or box [rad], about z; default 0"},
    {"view[]", "text", "text", "of a text"},
    {"view[]", "contact", "text", "name of the contact whose forces and impulses are drawn"},
    {"view[]", "normal", "list of formulas", "direction of its normal force"},
    {"view[]", "tangent", "list of formulas", "direction of friction; default none"},
    {"view[]", "colour", "word",
     "blue, orange, green, pink, cyan, red, violet, olive, grey or black; default by its place"},
    {"view[]", "ground", "true or false", "strokes on the right of a line; default false"},
    {"view[]", "filled", "true or false", "a circle or box is an area; default true"},
};

static const saltus_scene_key simulation_keys[] = {
    {"simulate", "start", "formula", "time at the start [s]; default 0"},
    {"simulate", "until", "formula", "time at the end [s]"},
    {"simulate", "scheme", "text",
     "time-stepping scheme, see saltus list schemes; default adaptive, moreau-jean with a step"},
    {"simulate", "step", "formula", "step [s]"},
    {"simulate", "options", "mapping", "options of the scheme"},
    {"simulate", "tol", "formula",
     "tolerance rtol = atol of the scheme or of a step-size controller, instead of a step"},
    {"simulate", "global", "true or false",
     "whether the tolerance is of the motion and not of a step; default false"},
    {"simulate", "control", "text", "step-size controller, see saltus list controls"},
    {"simulate", "control_options", "mapping", "options of the controller"},
    {"simulate", "start_tolerance", "formula",
     "largest violation of contacts and joints at the start that is corrected [unit of the gap]; "
     "default 0.01"},
};

static const saltus_scene_key fit_keys[] = {
    {"fit", "data", "mapping", "measurements"},
    {"fit", "experiments", "mapping", "which of them; default all"},
    {"fit", "measured", "list", "values of the scene and their columns"},
    {"fit", "start", "mapping", "starts of bodies and coordinates; default those of the scene"},
    {"fit", "unknown", "mapping", "parameters that are estimated"},
    {"fit", "window", "mapping", "frames that count; default all"},
    {"fit", "loss", "mapping", "loss of a residual; default squares"},
    {"fit", "method", "mapping", "limits of the iteration"},
    {"fit.data", "file", "text", "HDF5 file, or CSV files by a pattern such as toss-*.csv"},
    {"fit.data", "table", "text", "of HDF5: dataset of frames, with the attribute columns"},
    {"fit.data", "index", "text", "of HDF5: dataset of experiments, with first and count"},
    {"fit.data", "rate", "formula", "of HDF5: frames of a second [1/s]"},
    {"fit.experiments", "where", "text", "condition with columns of the index; default all"},
    {"fit.experiments", "key", "text", "column of the index that names experiments; default id"},
    {"fit.measured[]", "value", "text", "body, or formula of positions and velocities"},
    {"fit.measured[]", "columns", "list of names", "one, of a pose seven: x, y, z, qw, qx, qy, qz"},
    {"fit.measured[]", "kind", "word", "scalar, angle or pose; default scalar"},
    {"fit.measured[]", "noise", "formula", "standard deviation of a residual; default 1"},
    {"fit.measured[]", "scale", "formula", "residual at which a robust loss bends; default noise"},
    {"fit.measured[]", "arm", "formula", "of a pose: distance of compared points [m]"},
    {"fit.measured[]", "width", "formula",
     "of a pose: size that errors refer to [m]; default 2 arm"},
    {"fit.start.NAME", "columns", "list of names", "of the index: positions, then velocities"},
    {"fit.start.NAME", "free", "true or false", "estimated for every experiment; default false"},
    {"fit.unknown.NAME", "bounds", "list of formulas", "least and largest value; default none"},
    {"fit.unknown.NAME", "prior", "mapping", "prior distribution; default none"},
    {"fit.unknown.NAME", "step", "formula", "of differences; default 1e-3 of the bounds"},
    {"fit.unknown.NAME.prior", "normal", "list of formulas", "mean and standard deviation"},
    {"fit.window", "from", "text", "start, or column of the index with a frame; default start"},
    {"fit.window", "frames", "whole number", "number of frames behind it; default all"},
    {"fit.loss", "kind", "word", "squares, huber, soft-l1 or cauchy"},
    {"fit.method", "iterations", "whole number", "limit of iterations; default 60"},
    {"fit.method", "tolerance", "formula", "least change, in parts of the bounds; default 1e-7"},
};

static const saltus_scene_key optimize_keys[] = {
    {"optimize", "variables", "list of texts", "NAME=LOW:HIGH, with log for a scale of factors"},
    {"optimize", "minimize", "text", "measure of a run, or mean or quantile P of MEASURE"},
    {"optimize", "maximize", "text", "the same, to be as large as possible"},
    {"optimize", "find", "text", "condition whose edge is located: MEASURE <= NUMBER, >=, ="},
    {"optimize", "constraints", "list of texts", "conditions; default none"},
    {"optimize", "random", "list of texts",
     "random axes NAME~normal(MEAN, DEVIATION); default none"},
    {"optimize", "samples", "whole number", "of the random axes; default 1"},
    {"optimize", "method", "word", "auto, gradient, local or global; default auto"},
    {"optimize", "tolerance", "number", "least change, in parts of the bounds; default 1e-6"},
    {"optimize", "evaluations", "whole number", "limit of evaluations of one search; default 1000"},
};

static const saltus_scene_key record_keys[] = {
    {"record", "every", "whole number",
     "steps between recorded states; default 1, of adaptive 500 equal times instead"},
    {"record", "dt", "formula", "time between recorded states [s], instead of every"},
};

/* Keys along a coordinate: directly in a joint with one coordinate, under each coordinate in a
 * joint with two. */
#define ALONG(section)                                                                             \
  {section, "drive", "mapping", "prescribed coordinate or speed"},                                 \
      {section, "limits", "list of formulas", "lower and upper end [rad or m], or none"},          \
      {section, "restitution", "formula", "of the limits, 0 to 1; default 0"},                     \
      {section, "spring", "mapping", "spring along the coordinate"},                               \
      {section, "damping", "formula", "[N m s/rad or N s/m]; default 0"},                          \
      {section, "armature", "formula", "[kg m^2 or kg] inertia of the coordinate; default 0"},     \
      {section, "dry_friction", "mapping", "dry friction against the rate of the coordinate"}, {   \
    section, "actuator", "formula", "torque or force [N m or N], a motor; default 0"               \
  }
static const saltus_scene_key along_keys[] = {ALONG("joints[]"), ALONG("joints[].angle"),
                                              ALONG("joints[].position")};

typedef struct keys_table {
  const saltus_scene_key* keys;
  int count;
} keys_table;

#define TABLE(keys)                                                                                \
  { (keys), (int)(sizeof(keys) / sizeof *(keys)) }
static const keys_table tables[] = {
    TABLE(scene_keys),        TABLE(include_keys),      TABLE(model_keys),
    TABLE(running_keys),      TABLE(coordinate_keys),   TABLE(world_keys),
    TABLE(material_keys),     TABLE(contact_pair_keys), TABLE(shape_keys),
    TABLE(kind_keys),         TABLE(body_keys),         TABLE(driven_keys),
    TABLE(orientation_keys),  TABLE(marker_keys),       TABLE(force_keys),
    TABLE(spring_keys),       TABLE(joint_keys),        TABLE(joint_drive_keys),
    TABLE(joint_spring_keys), TABLE(contact_keys),      TABLE(element_keys),
    TABLE(friction_keys),     TABLE(impact_keys),       TABLE(output_keys),
    TABLE(event_keys),        TABLE(view_keys),         TABLE(simulation_keys),
    TABLE(record_keys),       TABLE(along_keys),        TABLE(beam_keys),
    TABLE(fit_keys),          TABLE(optimize_keys),
};

const saltus_scene_key* saltus_scene_key_at(int i) {
  for (size_t k = 0; i >= 0 && k < sizeof tables / sizeof *tables; k++) {
    if (i < tables[k].count) {
      return &tables[k].keys[i];
    }
    i -= tables[k].count;
  }
  return NULL;
}

int saltusi_scene_section(const char* section, const char** names, int most) {
  assert(section != NULL && names != NULL);
  int count = 0;
  for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) {
    const char* last = NULL; /* keys of a section are consecutive: its name is compared once */
    bool same = false;
    for (int i = 0; i < tables[k].count && count < most; i++) {
      const saltus_scene_key* at = &tables[k].keys[i];
      same = at->section == last ? same : strcmp(at->section, section) == 0;
      last = at->section;
      if (same) {
        names[count++] = at->key;
      }
    }
  }
  return count;
}
