/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * spanning_tree.c - the joints of a mechanism that become coordinates: in the order of the mechanism each one that closes no
 * loop with those before it. Then depth first, from the world and then from the first body not reached. Velocities of
 * a tree are consecutive.
 */
#include "base/log.h"
#include "tree/kinematic_tree.h"

#include <assert.h>
#include <math.h>

static const double revolution = 6.283185307179586476925;

typedef struct spanning {
  saltus_tree* tree;
  const saltus_tree_def* def;
  const saltus_mechanism* m;
  int* first;    /* [body_count + 2] joints of each body, the last is the world */
  int* list;     /* [2 joint_count] */
  bool* reached; /* [body_count + 1] */
  bool* used;    /* [joint_count] in a tree */
} spanning;

/* ---- which joints ---- */

static bool is_still(const saltus_mechanism* m, int body) {
  return m->bodies[body].kind == SALTUS_BODY_FIXED;
}

/* Dry friction that depends on the joint force needs rows of the joint. */
static bool rubs_by_force(const saltus_mechanism* m, int joint) {
  for (int i = 0; i < m->dry_count; i++) {
    if (m->dry[i].arm > 0.0 && (m->dries[i].joint == joint || m->dry[i].joint == joint)) {
      return true;
    }
  }
  return false;
}

static bool can_be_coordinate(const saltus_mechanism* m, int joint) {
  switch (m->joints[joint].type) {
  case SALTUS_JOINT_FIXED:
  case SALTUS_JOINT_REVOLUTE:
  case SALTUS_JOINT_PRISMATIC:
  case SALTUS_JOINT_CYLINDRICAL:
  case SALTUS_JOINT_SPHERICAL:
  case SALTUS_JOINT_UNIVERSAL:
  case SALTUS_JOINT_PLANAR:
  case SALTUS_JOINT_SCREW:
    break;
  case SALTUS_JOINT_POINT_ON_LINE:
  case SALTUS_JOINT_POINT_IN_PLANE:
  case SALTUS_JOINT_DISTANCE:
  case SALTUS_JOINT_GEAR:
  case SALTUS_JOINT_RACK_AND_PINION:
    return false;
  }
  const int* marker = m->joints[joint].between;
  for (int k = 0; k < 2; k++) {
    if (m->bodies[m->markers[marker[k]].body].kind == SALTUS_BODY_DRIVEN) {
      return false;
    }
  }
  return !rubs_by_force(m, joint);
}

/* ---- velocities ---- */

static void add_axis(saltus_tree* tree, int link, saltusi_tree_axis axis) {
  saltusi_tree_link* l = &tree->link[link];
  const int j = tree->axes++;
  axis.link = link;
  axis.parent = l->last;
  axis.depth = l->last >= 0 ? tree->axis[l->last].depth + 1 : 0;
  axis.first = axis.first < 0 ? j : axis.first;
  axis.entry = tree->entries;
  tree->entries += (size_t)axis.depth + 1;
  tree->longest = axis.depth + 1 > tree->longest ? axis.depth + 1 : tree->longest;
  tree->axis[j] = axis;
  l->last = j;
  l->axes++;
}

static void add_free_axes(saltus_tree* tree, int link) {
  const int lines = tree->plane ? 2 : 3;
  for (int k = 0; k < lines; k++) {
    add_axis(tree, link,
             (saltusi_tree_axis){.kind = SALTUSI_AXIS_WORLD, .i = k, .first = -1, .sign = 1.0});
  }
  const int first = tree->axes;
  for (int k = tree->plane ? 2 : 0; k < 3; k++) {
    add_axis(tree, link,
             (saltusi_tree_axis){.kind = SALTUSI_AXIS_BODY, .i = k, .first = first, .sign = 1.0});
  }
  tree->balls = tree->balls || !tree->plane;
}

/* Motions of the second marker in the first, in this order. */
static int motions_of(const saltus_tree* tree, const saltusi_tree_link* l,
                      saltusi_tree_axis motion[3]) {
  const saltusi_tree_axis z = {.kind = SALTUSI_AXIS_TURN, .i = 2, .first = -1},
                          slide = {.kind = SALTUSI_AXIS_SLIDE, .i = 2, .first = -1};
  const saltusi_joint* joint = &tree->mechanism->joints[l->joint];
  motion[0] = motion[1] = motion[2] = z;
  switch (l->type) {
  case SALTUS_JOINT_REVOLUTE:
    return 1;
  case SALTUS_JOINT_PRISMATIC:
    motion[0] = slide;
    motion[0].i = tree->plane ? 0 : 2;
    return 1;
  case SALTUS_JOINT_CYLINDRICAL:
    motion[1] = slide;
    return 2;
  case SALTUS_JOINT_SCREW:
    motion[0].kind = SALTUSI_AXIS_SCREW;
    motion[0].pitch = -tree->mechanism->rows[joint->row + 4].term[1].weight;
    return 1;
  case SALTUS_JOINT_UNIVERSAL:
    motion[0].i = 0;
    motion[1].i = 1;
    motion[1].end = 1;
    return 2;
  case SALTUS_JOINT_PLANAR:
    motion[0] = motion[1] = slide;
    motion[0].i = 0;
    motion[1].i = 1;
    return 3;
  default:
    return 0;
  }
}

static void add_joint_axes(saltus_tree* tree, int link) {
  const saltusi_tree_link l = tree->link[link];
  saltusi_tree_axis motion[3];
  if (l.type == SALTUS_JOINT_SPHERICAL) {
    const int first = tree->axes;
    for (int k = 0; k < 3; k++) {
      add_axis(tree, link,
               (saltusi_tree_axis){
                   .kind = SALTUSI_AXIS_TURN, .i = k, .end = l.child, .first = first, .sign = 1.0});
    }
    tree->balls = true;
    return;
  }
  const int count = motions_of(tree, &l, motion);
  for (int k = 0; k < count; k++) {
    saltusi_tree_axis axis = motion[l.child == 1 ? k : count - 1 - k];
    axis.sign = l.child == 1 ? 1.0 : -1.0;
    add_axis(tree, link, axis);
  }
}

/* ---- links ---- */

static void still_pose(const saltus_mechanism* m, int body, saltusi_tree_link* l) {
  const saltusi_pose* pose = &m->bodies[body].pose;
  memcpy(l->still, pose->x, sizeof pose->x);
  saltusi_matrix_quaternion(pose->R, l->still + 3);
  l->still_angle = pose->angle;
}

static void marker_quaternion(const saltusi_marker* marker, double p[4]) {
  double R[9];
  for (int k = 0; k < 9; k++) {
    R[k] = marker->axis[k % 3][k / 3];
  }
  saltusi_matrix_quaternion(R, p);
}

/* Adds a body; joint -1: without one. */
static int add_link(spanning* s, int body, int joint, int parent) {
  saltus_tree* tree = s->tree;
  const saltus_mechanism* m = s->m;
  const int i = tree->links++;
  saltusi_tree_link* l = &tree->link[i];
  *l = (saltusi_tree_link){.body = body,
                           .q = m->bodies[body].q,
                           .v = m->bodies[body].v,
                           .parent = parent,
                           .root = parent >= 0 ? tree->link[parent].root : i,
                           .joint = joint,
                           .axis = tree->axes,
                           .last = parent >= 0 ? tree->link[parent].last : -1,
                           .slot = -1};
  s->reached[body] = true;
  tree->link_of[l->v / (m->plane ? 3 : 6)] = i;
  if (joint < 0) {
    add_free_axes(tree, i);
    return i;
  }
  s->used[joint] = true;
  l->type = m->joints[joint].type;
  l->slot = m->plane ? -1 : m->joints[joint].angle_q;
  for (int k = 0; k < 2; k++) {
    l->marker[k] = m->joints[joint].between[k];
    marker_quaternion(&m->markers[l->marker[k]], l->quaternion[k]);
  }
  l->child = m->markers[l->marker[1]].body == body ? 1 : 0;
  if (parent < 0) {
    still_pose(m, m->markers[l->marker[1 - l->child]].body, l);
  }
  add_joint_axes(tree, i);
  return i;
}

/* The joint of a body that leads to one not reached yet; -1: none. `next` is where to search on. */
static int next_joint(const spanning* s, int body, int* next) {
  for (; *next < s->first[body + 1]; (*next)++) {
    const int joint = s->list[*next];
    const int* marker = s->m->joints[joint].between;
    for (int k = 0; k < 2 && !s->used[joint]; k++) {
      const int other = s->m->markers[marker[k]].body;
      if (other != body && !s->reached[other] && s->m->bodies[other].kind == SALTUS_BODY_FREE) {
        return joint;
      }
    }
  }
  return -1;
}

static int other_body(const spanning* s, int joint, int body) {
  const int* marker = s->m->joints[joint].between;
  const int a = s->m->markers[marker[0]].body;
  return a == body ? s->m->markers[marker[1]].body : a;
}

/* The subtree of a link; next [body_count + 1]: positions in the lists of joints. */
static void grow(spanning* s, int link, int* next) {
  for (int at = link; at >= 0;) {
    const int body = s->tree->link[at].body;
    const int joint = next_joint(s, body, &next[body]);
    const bool back = joint < 0;
    if (back && at == link) {
      return;
    }
    at = back ? s->tree->link[at].parent : add_link(s, other_body(s, joint, body), joint, at);
  }
}

static int group_of(int* group, int body) {
  while (group[body] != body) {
    group[body] = group[group[body]];
    body = group[body];
  }
  return body;
}

/* Joints that close no loop with earlier ones (Kruskal's algorithm); all bodies at rest count as one. */
static bool* choose_joints(const saltus_mechanism* m, saltusi_pool* pool) {
  int* group = SALTUSI_TAKE(pool, int, m->body_count + 1);
  bool* chosen = SALTUSI_TAKE(pool, bool, m->joint_count + 1);
  if (group == NULL || chosen == NULL) {
    return NULL;
  }
  for (int b = 0; b <= m->body_count; b++) {
    group[b] = is_still(m, b) ? m->body_count : b;
  }
  for (int i = 0; i < m->joint_count; i++) {
    const int* marker = m->joints[i].between;
    if (can_be_coordinate(m, i)) {
      const int a = group_of(group, m->markers[marker[0]].body);
      const int b = group_of(group, m->markers[marker[1]].body);
      chosen[i] = a != b;
      group[a < b ? a : b] = a < b ? b : a; /* the world is the last */
    }
  }
  return chosen;
}

static saltus_status list_joints(spanning* s) {
  const saltus_mechanism* m = s->m;
  saltusi_pool* pool = &s->tree->pool;
  s->first = SALTUSI_TAKE(pool, int, m->body_count + 2);
  s->list = SALTUSI_TAKE(pool, int, 2 * m->joint_count);
  s->reached = SALTUSI_TAKE(pool, bool, m->body_count + 1);
  s->used = SALTUSI_TAKE(pool, bool, m->joint_count);
  int* next = SALTUSI_TAKE(pool, int, m->body_count + 2);
  const bool* chosen = choose_joints(m, pool);
  if (pool->failed) {
    return SALTUS_ERR_MEMORY;
  }
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < m->joint_count; i++) {
      for (int k = 0; k < 2 && chosen[i]; k++) {
        const int body = m->markers[m->joints[i].between[k]].body;
        if (pass == 0) {
          s->first[body + 1]++;
        } else {
          s->list[next[body]++] = i;
        }
      }
    }
    for (int b = 0; pass == 0 && b <= m->body_count; b++) {
      s->first[b + 1] += s->first[b];
      next[b + 1] = s->first[b + 1];
    }
  }
  return SALTUS_OK;
}

/* ---- forces and rows ---- */

static bool takes_angle(const saltusi_force_along* f, const saltusi_joint* joint) {
  return f->row == &joint->angle;
}

/* Forces along coordinates of joints in the trees. */
static saltus_status take_forces(spanning* s) {
  saltus_tree* tree = s->tree;
  saltusi_force_along* laws = SALTUSI_TAKE(&tree->pool, saltusi_force_along, s->def->law_count + 1);
  tree->drive =
      SALTUSI_TAKE(&tree->pool, saltusi_tree_drive, s->m->force_count + s->def->law_count);
  if (tree->pool.failed) {
    return SALTUS_ERR_MEMORY;
  }
  for (int i = 0; i < tree->links; i++) {
    const saltusi_tree_link* l = &tree->link[i];
    const saltusi_joint* joint = l->joint >= 0 ? &s->m->joints[l->joint] : NULL;
    for (int f = 0; joint != NULL && f < s->m->force_count; f++) {
      saltusi_force_along* force = &s->m->forces[f];
      if (force->row != &joint->angle && force->row != &joint->position) {
        continue;
      }
      const bool angle = takes_angle(force, joint);
      int j = l->axis;
      while (j < l->axis + l->axes - 1 && (tree->axis[j].kind == SALTUSI_AXIS_SLIDE) == angle) {
        j++;
      }
      const bool by_screw = tree->axis[j].kind == SALTUSI_AXIS_SCREW && !angle;
      tree->drive[tree->drives++] =
          (saltusi_tree_drive){force, NULL, i, j, angle, by_screw ? tree->axis[j].pitch : 1.0};
      force->taken = true;
    }
    for (int k = 0; joint != NULL && k < s->def->law_count; k++) {
      const bool angle = joint->has_angle;
      if (s->def->laws[k].joint == l->joint) {
        laws[k] = (saltusi_force_along){.link = &joint->link,
                                        .row = angle ? &joint->angle : &joint->position};
        tree->drive[tree->drives++] =
            (saltusi_tree_drive){&laws[k], &s->def->laws[k], i, l->axis, angle, 1.0};
      }
    }
  }
  for (int f = 0; f < s->m->force_count; f++) {
    if (s->m->forces[f].armature != 0.0 && !s->m->forces[f].taken) {
      saltusi_log(s->def->log, SALTUS_LEVEL_ERROR,
                  "tree: a joint that closes a loop has no coordinate for its armature");
      return SALTUS_ERR_UNSUPPORTED;
    }
  }
  return SALTUS_OK;
}

/* Joints of the inner system that keep rows: all rows, or drives of joints in the trees. */
static saltus_status keep_joints(spanning* s) {
  saltus_tree* tree = s->tree;
  const saltus_system* in = tree->inner;
  const int count = in->joint_first != NULL ? in->joint_count : in->dims.nj;
  tree->kept = SALTUSI_TAKE(&tree->pool, saltusi_tree_kept, count + 1);
  if (tree->kept == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  for (int i = 0; i < count; i++) {
    saltusi_tree_kept k = {
        i, 0, in->joint_first != NULL ? in->joint_first[i + 1] - in->joint_first[i] : 1};
    if (i < s->m->joint_count && s->used[i]) {
      const saltusi_joint* joint = &s->m->joints[i];
      const int drives = (joint->driven[0] >= 0) + (joint->driven[1] >= 0);
      k.first = k.rows - drives;
      k.rows = drives;
    }
    if (k.rows > 0) {
      tree->kept[tree->kept_count++] = k;
    }
  }
  return SALTUS_OK;
}

/* Forces between bodies: pairs of the inner system other than those of forces along coordinates of the trees alone. */
static void find_couplings(spanning* s) {
  saltus_tree* tree = s->tree;
  tree->couples = tree->inner->structure->pairs > 0 && tree->inner != &s->m->system;
  for (int i = 0; i < s->m->force_count; i++) {
    tree->couples = tree->couples || (s->m->forces[i].pair >= 0 && !s->m->forces[i].taken);
  }
}

/* Relative angle of a joint in the plane that does not turn, a multiple of full revolutions. */
static void find_turns(saltus_tree* tree, const double* q) {
  for (int i = 0; tree->plane && i < tree->links; i++) {
    saltusi_tree_link* l = &tree->link[i];
    if (l->joint >= 0) {
      l->turns = revolution * nearbyint(saltusi_tree_coordinate(tree, l, true, q) / revolution);
    }
  }
}

bool saltus_tree_takes(const saltus_mechanism* m, int joint) {
  assert(m != NULL && joint >= 0 && joint < m->joint_count);
  saltusi_pool pool = saltusi_pool_over(NULL);
  const saltus_joint_type type = m->joints[joint].type;
  const bool* chosen = choose_joints(m, &pool);
  const bool takes = chosen != NULL && chosen[joint] &&
                     (type == SALTUS_JOINT_REVOLUTE || type == SALTUS_JOINT_PRISMATIC);
  saltusi_pool_free(&pool);
  return takes;
}

saltus_status saltusi_tree_span(saltus_tree* tree, const saltus_tree_def* def) {
  assert(tree != NULL && def != NULL);
  const saltus_mechanism* m = def->mechanism;
  spanning s = {.tree = tree, .m = m, .def = def};
  tree->link = SALTUSI_TAKE(&tree->pool, saltusi_tree_link, m->free_count);
  tree->link_of = SALTUSI_TAKE(&tree->pool, int, m->free_count);
  tree->axis = SALTUSI_TAKE(&tree->pool, saltusi_tree_axis, m->system.dims.nv);
  int* next = SALTUSI_TAKE(&tree->pool, int, m->body_count + 1);
  saltus_status status = tree->pool.failed ? SALTUS_ERR_MEMORY : list_joints(&s);
  if (status != SALTUS_OK) {
    return status;
  }
  memcpy(next, s.first, (size_t)(m->body_count + 1) * sizeof *next);
  for (int b = m->body_count; b >= 0; b--) { /* the world first */
    for (int joint = is_still(m, b) ? next_joint(&s, b, &next[b]) : -1; joint >= 0;
         joint = next_joint(&s, b, &next[b])) {
      grow(&s, add_link(&s, other_body(&s, joint, b), joint, -1), next);
    }
  }
  for (int b = 0; b < m->body_count; b++) {
    if (!s.reached[b] && m->bodies[b].kind == SALTUS_BODY_FREE) {
      grow(&s, add_link(&s, b, -1, -1), next);
    }
  }
  for (int i = 0; i < tree->links; i++) {
    tree->roots += tree->link[i].parent < 0;
  }
  int slots = 0;
  for (int i = 0; i < tree->links; i++) {
    slots += tree->link[i].slot >= 0;
  }
  tree->unwraps = slots < m->angle_count;
  status = take_forces(&s);
  status = status == SALTUS_OK ? keep_joints(&s) : status;
  find_couplings(&s);
  find_turns(tree, tree->q0);
  return status;
}
