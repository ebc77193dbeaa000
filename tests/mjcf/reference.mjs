// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// Reference numbers of MuJoCo for robots in MJCF: node reference.mjs FOLDER FILE... > reference.txt, where the npm package
// @mujoco/mujoco (3.14 for the files beside) is installed in the current folder. Each robot is read without meshes, at a
// random configuration within its limits, with random velocities and all controls 0. Numbers are in the conventions of Saltus:
// the velocity of a free body is that of its centre of mass, with all bodies that are welded to it.
//
//   robot FILE          joints COUNT        qpos COUNT ...      (of the keyframe)
//   joint NAME FREE DOFS RATES ... (M w)_i ... F_i ...       w_i = sin(1 + i) over all velocities; M v' = F without constraints
//   (FREE: 1 behind a free joint)
//   body NAME x y z x' y' z'                            frame of a body
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join, dirname, resolve } from 'node:path'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const require = createRequire(join(process.cwd(), 'x.js'))
const { default: load } = await import(pathToFileURL(require.resolve('@mujoco/mujoco')))
const mujoco = await load()
const folder = resolve(process.argv[2])

// Elements that need files of meshes or pictures have no part in the numbers of bodies with explicit inertia.
const strip = (text) =>
  text
    .replace(/<!--[^]*?-->/g, '')
    .replace(/<(geom|site)\b[^>]*\b(mesh|hfield)="[^>]*?\/>/g, '')
    .replace(/<(mesh|texture|material|hfield|skin|model)\b[^>]*?\/>/g, '')
    .replace(/<(mesh|skin)\b[^>]*>[^]*?<\/\1>/g, '')
    .replace(/\s(material|mesh|type)="([^"]*)"/g, (all, name, value) => (name === 'type' && value !== 'mesh' ? all : ''))
    .replace(/<(key|plugin)\b[^>]*?\/>/g, '')
    .replace(/<sensor\b[^>]*>[^]*?<\/sensor>/g, '')

const put = (from, to) => {
  try {
    mujoco.FS.mkdir(to)
  } catch {}
  for (const name of readdirSync(from)) {
    const path = join(from, name)
    if (statSync(path).isDirectory()) put(path, `${to}/${name}`)
    else if (name.endsWith('.xml')) mujoco.FS.writeFile(`${to}/${name}`, strip(readFileSync(path, 'utf8')))
  }
}

let seed = 43n
const random = () => {
  seed = (seed * 6364136223846793005n + 1442695040888963407n) & ((1n << 64n) - 1n)
  return Number(seed >> 11n) / 2 ** 53
}
const dot = (a, b) => a.reduce((s, x, i) => s + x * b[i], 0)
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
const turn = (R, x) => [0, 1, 2].map((i) => R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2])

const sample = (model, data) => {
  const q = Array.from(model.qpos0)
  for (let j = 0; j < model.njnt; j++) {
    const at = model.jnt_qposadr[j]
    const type = model.jnt_type[j]
    const [low, high] = [model.jnt_range[2 * j], model.jnt_range[2 * j + 1]]
    if (type < 2) {
      const from = type === 0 ? 3 : 0
      for (let k = 0; k < from; k++) q[at + k] = 2 * random() - 1
      const turned = [0, 1, 2, 3].map(() => 2 * random() - 1)
      for (let k = 0; k < 4; k++) q[at + from + k] = turned[k] / Math.sqrt(dot(turned, turned))
    } else {
      q[at] = low < high ? low + (high - low) * (0.1 + 0.8 * random()) : q[at] + random() - 0.5
    }
  }
  const rest = (body) => { // joints of loops stay where these are closed
    for (let b = body; b > 0; b = model.body_parentid[b]) {
      for (let j = 0; j < model.njnt; j++) {
        const at = model.jnt_qposadr[j]
        const count = [7, 4, 1, 1][model.jnt_type[j]]
        if (model.jnt_bodyid[j] === b) for (let k = 0; k < count; k++) q[at + k] = model.qpos0[at + k]
      }
    }
  }
  for (let i = 0; i < model.neq; i++) {
    const [a, b] = [model.eq_obj1id[i], model.eq_obj2id[i]]
    const c = Array.from(model.eq_data.slice(11 * i, 11 * i + 5))
    if (model.eq_type[i] < 2) [a, b].forEach((x) => rest(model.eq_objtype[i] === 6 ? model.site_bodyid[x] : x))
    else if (model.eq_type[i] === 2) {
      const [first, other] = [model.jnt_qposadr[a], b >= 0 ? model.jnt_qposadr[b] : -1]
      const x = other >= 0 ? q[other] - model.qpos0[other] : 0
      q[first] = model.qpos0[first] + c.reduce((sum, y, k) => sum + y * x ** k, 0)
    }
  }
  for (let i = 0; i < model.nq; i++) data.qpos[i] = q[i]
  for (let i = 0; i < model.nv; i++) data.qvel[i] = 2 * random() - 1
  return q
}

// Centre of mass of a free body and those welded to it, from its origin, in the world.
const arm = (model, data, body) => {
  let mass = 0
  const sum = [0, 0, 0]
  for (let b = 0; b < model.nbody; b++) {
    if (model.body_weldid[b] === body) {
      mass += model.body_mass[b]
      for (let k = 0; k < 3; k++) sum[k] += model.body_mass[b] * (data.xipos[3 * b + k] - data.xpos[3 * body + k])
    }
  }
  return sum.map((x) => x / mass)
}

const dump = (file) => {
  const model = mujoco.MjModel.from_xml_path(`/robots/${file}`)
  const data = new mujoco.MjData(model)
  const n = model.nv
  const q = sample(model, data)
  mujoco.mj_forward(model, data)
  // v_saltus = T v: x' = v + w x r, w in the axes of the body in both
  const shifts = []
  for (let j = 0; j < model.njnt; j++) {
    if (model.jnt_type[j] === 0) {
      const body = model.jnt_bodyid[j]
      const R = Array.from(data.xmat.slice(9 * body, 9 * body + 9))
      shifts.push({ at: model.jnt_dofadr[j], R, r: arm(model, data, body) })
    }
  }
  const forward = (v, by) => {
    const out = Array.from(v)
    for (const { at, R, r } of shifts) {
      const moved = cross(turn(R, out.slice(at + 3, at + 6)), r)
      for (let k = 0; k < 3; k++) out[at + k] += by * moved[k]
    }
    return out
  }
  const dual = (f) => { // T^-T f
    const out = Array.from(f)
    for (const { at, R, r } of shifts) {
      const moment = cross(r, out.slice(at, at + 3))
      for (let k = 0; k < 3; k++) out[at + 3 + k] -= R[k] * moment[0] + R[3 + k] * moment[1] + R[6 + k] * moment[2]
    }
    return out
  }
  const times = (x) => {
    const y = new mujoco.DoubleBuffer(n)
    mujoco.mj_mulM(model, data, y, x)
    const out = Array.from(y.GetView())
    y.delete()
    return out
  }
  const w = Array.from({ length: n }, (_, i) => Math.sin(1 + i))
  const mass = dual(times(forward(w, -1)))
  const v = Array.from(data.qvel)
  const rate = new Array(n).fill(0) // (d/dt T) v: w x (w x r)
  for (const { at, R, r } of shifts) {
    const spin = turn(R, v.slice(at + 3, at + 6))
    cross(spin, cross(spin, r)).forEach((x, k) => (rate[at + k] = x))
  }
  const carried = times(forward(rate, -1))
  const force = dual(Array.from({ length: n }, (_, i) =>
    data.qfrc_passive[i] + data.qfrc_actuator[i] - data.qfrc_bias[i] + carried[i]))
  const rates = forward(v, 1)
  console.log(`robot ${file}`)
  console.log(`joints ${model.njnt}`)
  console.log(`qpos ${model.nq} ${q.join(' ')}`)
  for (let j = 0; j < model.njnt; j++) {
    const at = model.jnt_dofadr[j]
    const dofs = [6, 3, 1, 1][model.jnt_type[j]]
    const some = (x) => x.slice(at, at + dofs).join(' ')
    const free = model.jnt_type[model.body_jntadr[model.body_rootid[model.jnt_bodyid[j]]]] === 0 ? 1 : 0
    console.log(`joint ${mujoco.mj_id2name(model, 3, j) || '?'} ${free} ${dofs} ${some(rates)} ${some(mass)} ${some(force)}`)
  }
  const bodies = []
  const jacobian = new mujoco.DoubleBuffer(3 * n)
  const turns = new mujoco.DoubleBuffer(3 * n)
  for (let b = 1; b < model.nbody; b++) {
    mujoco.mj_jacBody(model, data, jacobian, turns, b)
    const J = jacobian.GetView()
    const speed = [0, 1, 2].map((k) => dot(Array.from(J.slice(k * n, (k + 1) * n)), v))
    bodies.push(`body ${mujoco.mj_id2name(model, 1, b) || '?'} ${Array.from(data.xpos.slice(3 * b, 3 * b + 3)).join(' ')} ${speed.join(' ')}`)
  }
  console.log(`bodies ${bodies.length}`)
  console.log(bodies.join('\n'))
  data.delete()
  model.delete()
}

put(folder, '/robots')
for (const file of process.argv.slice(3)) {
  try {
    dump(file)
  } catch (error) {
    console.error(`${file}: ${typeof error === 'number' ? error : error.message}`)
  }
}
