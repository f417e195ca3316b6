import { Violation } from './violation.ts'

/** Everything that can happen next. */
export interface Action<S> {
  readonly name: string
  /** Null: it is refused, or there is nothing to do. */
  readonly run: () => Promise<S | null> | S | null
}

export interface Model<S> {
  /** Equal for states that are alike. */
  keyOf(state: S): string
  actionsOf(state: S): readonly Action<S>[]
  /** Actions that follow each action at once. */
  follow(state: S): S
  /** Nothing is on its way, and all is as it should be in the end. */
  isQuiet(state: S): boolean
  /** Throws a violation. */
  check(state: S): void
  /** One of the steps that happen eventually: messages arrive, CRMs work, deadlines pass. Null: none remains. */
  fairStep(state: S): Promise<{ readonly name: string; readonly state: S } | null>
}

/** Breadth first, so that the way to the first violation is a shortest one. */

export interface Found {
  readonly states: number
  readonly quiet: number
  readonly transitions: number
  readonly depth: number
  readonly violation: string | null
}

interface Visited<S> {
  readonly state: S
  readonly by: string
  readonly from: Visited<S> | null
}

export async function search<S>(model: Model<S>, starts: readonly S[], depth: number): Promise<Found> {
  const { keyOf, actionsOf, isQuiet, check } = model
  const seen = new Set<string>()
  /** From these a fair schedule leads to a quiet state. */
  const leading = new Set<string>()
  let level: Visited<S>[] = []
  let transitions = 0
  let quiet = 0
  const found = (violation: string | null, at: number): Found => ({
    states: seen.size,
    quiet,
    transitions,
    depth: at,
    violation,
  })
  const visit = async (state: S, key: string, by: string, from: Visited<S> | null): Promise<void> => {
    seen.add(key)
    const visited = { state, by, from }
    level.push(visited)
    try {
      if (isQuiet(state)) quiet++
      check(state)
      await checkWayOut(model, state, leading)
    } catch (error) {
      throw traced(model, error, visited)
    }
  }
  try {
    for (const [i, state] of starts.entries()) await visit(state, keyOf(state), `start ${i}`, null)
    for (let at = 0; at < depth; at++) {
      const last = level
      level = []
      for (const visited of last) {
        for (const action of actionsOf(visited.state)) {
          const next = await take(model, visited, action)
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
function traced<S>({ keyOf }: Model<S>, error: unknown, visited: Visited<S>, more: readonly string[] = []): unknown {
  if (!(error instanceof Violation)) return error
  const steps: string[] = [...more]
  for (let one: Visited<S> | null = visited; one; one = one.from) steps.unshift(`${one.by}\n      ${keyOf(one.state)}`)
  return new Traced(`${error.message}\n  ${steps.join('\n  ')}`)
}

async function take<S>(model: Model<S>, visited: Visited<S>, action: Action<S>): Promise<S | null> {
  try {
    const running = action.run()
    // Most of them are done at once: waiting for all would take longer than doing them.
    const next = running instanceof Promise ? await running : running
    return next && model.follow(next)
  } catch (error) {
    throw traced(model, error, visited, [action.name])
  }
}

const MOST_STEPS = 80

/** Steps that happen eventually (messages arrive, the CRM works, deadlines pass) alone lead to a fixpoint. */
async function checkWayOut<S>(model: Model<S>, start: S, leading: Set<string>): Promise<void> {
  const { keyOf, isQuiet, check, fairStep } = model
  const way: string[] = []
  const names: string[] = []
  let state = start
  let at = keyOf(start)
  while (!leading.has(at) && !isQuiet(state)) {
    way.push(at)
    if (way.length > MOST_STEPS) throw new Violation(`there is no way out:\n    ${names.join('\n    ')}`)
    const next = await fairStep(state)
    if (!next) throw new Violation(`nothing leads on:\n    ${names.join('\n    ')}`)
    names.push(next.name)
    state = next.state
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
