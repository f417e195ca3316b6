import type { InstanceFacts } from '../../../../src/families/edge/facts.ts'
import { cloudletFacts } from '../../../../src/families/edge/facts.ts'
import { type Action, actionsOf, connect, deliver, type Limits, receive, send } from './actions.ts'
import { begin, finish } from './crm.ts'
import * as server from './server.ts'
import { ModelNode, ownersOf } from './slice.ts'
import { cloudletOf, instanceAt, keyOf, PLACES, type Place, type State } from './state.ts'
import { Violation } from './violation.ts'

/** Breadth first, so that the way to the first violation is a shortest one. */

export interface Found {
  readonly states: number
  readonly quiet: number
  readonly transitions: number
  readonly depth: number
  readonly violation: string | null
}

interface Visited {
  readonly state: State
  readonly by: string
  readonly from: Visited | null
}

export async function search(starts: readonly State[], limits: Limits, depth: number): Promise<Found> {
  const seen = new Set<string>()
  /** From these a fair schedule leads to a quiet state. */
  const leading = new Set<string>()
  let level: Visited[] = []
  let transitions = 0
  let quiet = 0
  const found = (violation: string | null, at: number): Found => ({
    states: seen.size,
    quiet,
    transitions,
    depth: at,
    violation,
  })
  const visit = async (state: State, key: string, by: string, from: Visited | null): Promise<void> => {
    seen.add(key)
    const visited = { state, by, from }
    level.push(visited)
    try {
      if (isQuiet(state)) quiet++
      check(state)
      await checkWayOut(state, key, leading)
    } catch (error) {
      throw traced(error, visited)
    }
  }
  try {
    for (const [i, state] of starts.entries()) await visit(state, keyOf(state), `start ${i}`, null)
    for (let at = 0; at < depth; at++) {
      const last = level
      level = []
      for (const visited of last) {
        for (const action of actionsOf(visited.state, limits)) {
          const next = await take(visited, action)
          if (!next) continue
          transitions++
          const key = keyOf(next)
          if (!seen.has(key)) await visit(next, key, action.name, visited)
        }
      }
    }
  } catch (error) {
    if (error instanceof Traced) return found(error.message, depth)
    throw error
  }
  return found(null, depth)
}

class Traced extends Error {}
function traced(error: unknown, visited: Visited, more: readonly string[] = []): unknown {
  if (!(error instanceof Violation)) return error
  const steps: string[] = [...more]
  for (let one: Visited | null = visited; one; one = one.from) steps.unshift(`${one.by}\n      ${keyOf(one.state)}`)
  return new Traced(`${error.message}\n  ${steps.join('\n  ')}`)
}

async function take(visited: Visited, action: Action): Promise<State | null> {
  try {
    const running = action.run()
    // Most of them are done at once: waiting for all would take longer than doing them.
    const next = running instanceof Promise ? await running : running
    return next && send(next)
  } catch (error) {
    throw traced(error, visited, [action.name])
  }
}

/** Nothing is on its way and nothing runs. */
export function isQuiet({ records, wakes, crm, requests, told, late }: State): boolean {
  const isDone = wakes.length + requests.length + told.length === 0 && !late && !crm.jobs.c && !crm.jobs.a
  return isDone && crm.connected && records.every(({ row }) => row.phase === 'READY')
}

function check(state: State): void {
  for (const place of PLACES) {
    const record = instanceAt(state, place)
    if (record) {
      const { row, spec, facts } = record
      if (ownersOf(row.phase).size !== 1) throw new Violation(`not exactly one actor has its turn in ${row.phase}`)
      if ((spec as { v: number }).v !== (facts as InstanceFacts).specRevision)
        throw new Violation('a revision stands for another spec')
    }
    if (isQuiet(state) && !state.tampered) checkAgreement(state, place)
  }
  if (instanceAt(state, 'a') && !instanceAt(state, 'c')) throw new Violation('an app instance without cluster instance')
}

/** What is recorded is there, as it is recorded, and nothing else is. */
function checkAgreement(state: State, place: Place): void {
  const record = instanceAt(state, place)
  const disk = state.crm.disk[place]
  if (!record) {
    const { orphans } = cloudletFacts(new ModelNode(cloudletOf(state)))
    const isTold = orphans.some(({ path }) => path.length === (place === 'c' ? 2 : 3))
    if (disk && !isTold) throw new Violation(`${place} is there, and nobody knows of it`)
    return
  }
  const { specRevision, drifted, undoing } = record.facts as InstanceFacts
  if (undoing) throw new Violation(`${place} is READY and being undone`)
  if (record.work?.dueAt) throw new Violation(`a clock runs for ${place}, which is READY`)
  if (record.row.jobId !== record.row.finishedJobId) throw new Violation(`${place} is READY, and its job is not over`)
  const isSo = disk?.half === null && disk.owner === record.row.id && disk.rev === specRevision
  if (!isSo && !drifted) throw new Violation(`${place} is recorded as READY, and is not so`)
}

const MOST_STEPS = 80

/** With nothing but what must happen in the end (messages arrive, the CRM works, deadlines pass) all comes to rest. */
async function checkWayOut(start: State, key: string, leading: Set<string>): Promise<void> {
  const way: string[] = []
  const names: string[] = []
  let state = start
  let at = key
  while (!leading.has(at) && !isQuiet(state)) {
    way.push(at)
    if (way.length > MOST_STEPS) throw new Violation(`there is no way out:\n    ${names.join('\n    ')}`)
    const next = await fairStep(state)
    if (!next) throw new Violation(`nothing leads on:\n    ${names.join('\n    ')}`)
    names.push(next.name)
    state = send(next.state)
    at = keyOf(state)
  }
  try {
    if (isQuiet(state)) check(state)
  } catch (error) {
    if (error instanceof Violation) throw new Violation(`${error.message}; in the end, by\n    ${names.join('\n    ')}`)
    throw error
  }
  for (const one of way) leading.add(one)
  leading.add(at)
}

async function fairStep(state: State): Promise<{ readonly name: string; readonly state: State } | null> {
  const to = (name: string, next: State | null) => next && { name, state: next }
  if (state.wakes.length > 0) return to('engine looks', server.look(state))
  if (state.late) return to('slow call is lost', { ...state, late: null })
  const { crm, told, requests } = state
  if (!crm.connected) return to('CRM connects', await connect(state, 'back'))
  if (told[0]) return to(`report ${told[0].place} ${told[0].phase}`, deliver(state, told[0]))
  if (requests[0]) return to(`request ${requests[0].place} ${requests[0].action}`, receive(state, requests[0]))
  for (const place of PLACES) {
    const next = begin(state, place) ?? finish(state, place)
    if (next) return to(`CRM works at ${place}`, next)
  }
  for (const place of PLACES) {
    const next = server.deadline(state, place)
    if (next) return to(`deadline of ${place}`, next)
  }
  return null
}
