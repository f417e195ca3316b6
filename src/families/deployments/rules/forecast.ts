/**
 * When a run is expected to end, from the courses of earlier runs. Its objects are laid out once more, each with the time
 * that it usually takes; how far that was off in earlier runs, at the same point of each, says how far it may be off now.
 */

/** Milliseconds since 1970. */
export interface Course {
  readonly from: number
  /** Null: it has not ended. */
  readonly to: number | null
}
/** An object that takes part in the run. */
export interface ForecastNode {
  readonly id: string
  readonly parentId: string | null
  /** Ids of the objects that it waits for. */
  readonly dependencies: readonly string[]
  /** The same in all runs. */
  readonly key: string
  /** Objects that usually take as long, for one that is new. */
  readonly group: string
  /** Null: it has not begun. */
  readonly course: Course | null
}
/** A run that has succeeded. */
export interface PastRun {
  readonly startedAt: number
  readonly courses: ReadonlyMap<string, { readonly from: number; readonly to: number }>
}

export interface ExpectedEnd {
  /** Half of the runs end earlier; null: none took this long. */
  readonly p50: Date | null
  /** Nine of ten runs end earlier; null: too few took this long. */
  readonly p90: Date | null
  /** Earlier runs that it is drawn from, and how many of them had ended the object by this point. */
  readonly runs: number
  readonly endedRuns: number
  /** Ids of the leaves whose ends determine its end and are still to come, in the order of time. */
  readonly criticalPath: readonly string[]
}
export interface Forecast {
  /** Null: the object has ended, or takes no part. */
  of(id: string): ExpectedEnd | null
}

/** From this number of scores on, nine of ten lie below one of them. */
const MIN_RANKED = 9
/**
 * Quantiles of Student's t at 90 %, by degrees of freedom, for fewer scores. The mean and the slope take one each: without the
 * second the p90 covered 86 to 89 % after four to nine runs, with it 87 to 91 %.
 */
const T90 = [Number.NaN, 3.078, 1.886, 1.638, 1.533, 1.476, 1.44]
/** Fewer scores give no p90: that of three was off by half as much again, once the usual time of a run was over. */
const MIN_SCORES = 4
/**
 * The share of a run that is added to what is left of it, here and in earlier runs, so that twice almost nothing is no large
 * error: with 1 %, a p90 at the usual end of a run was off by several times the run.
 */
const SLACK = 0.05
/** Draws the slope towards 0 as much as one run would that was off by a third. Without a slope a p90 halfway was off by half as much again. */
const RIDGE = 0.1
/** A leaf that has taken longer than ever is expected to take this share of its time more. From 10 to 60 % the forecasts were as good. */
const BEYOND = 0.25

/**
 * Null: there is no earlier run, or none has an object or another of its group.
 * @param runs the oldest first
 * @param startedAt of the run, and the time now, in milliseconds since 1970
 */
export function forecast(
  nodes: readonly ForecastNode[],
  runs: readonly PastRun[],
  { startedAt, now }: { readonly startedAt: number; readonly now: number },
): Forecast | null {
  if (runs.length === 0) return null
  const layout = layOut(nodes)
  const present = new Float64Array(2 * nodes.length)
  for (const [i, { course }] of nodes.entries()) {
    present[2 * i] = (course?.from ?? Number.POSITIVE_INFINITY) - startedAt
    present[2 * i + 1] = (course?.to ?? Number.POSITIVE_INFINITY) - startedAt
  }
  const place = placeOf(layout, present, now - startedAt)
  const durations = new Durations(nodes)
  const points = runs.map((run, k) => {
    const course = eventsOf(nodes, run)
    const at = timeAt(layout, course, place)
    const then = k === 0 ? null : project(layout, durations, course, at)
    durations.add(layout, course)
    return { course, at, then }
  })
  const here = project(layout, durations, present, place.at)
  if (!here) return null
  const indexes = new Map(nodes.map(({ id }, i) => [id, i]))
  const expect = (i: number): ExpectedEnd => {
    const end = 2 * i + 1
    const left = (at: Float64Array, time: number) => Math.max(0, (at[end] as number) - time)
    const known = points.filter(({ course }) => !Number.isNaN(course[end]))
    const comparable = known.filter(({ course, at }) => (course[end] as number) > at)
    const slack = 1 + SLACK * left(here.at, 0)
    const scores = comparable.flatMap(({ course, at, then }) =>
      then ? [{ x: then.pace, y: Math.log((left(course, at) + slack) / (left(then.at, at) + slack)) }] : [],
    )
    const weight = slopeOf(scores)
    // Each by the slope of the others: its own would make it look better than the next one.
    const off = scores
      .map((one) => one.y - slopeOf(scores.filter((other) => other !== one)) * one.x)
      .toSorted((a, b) => a - b)
    const endAt = (score: number): Date => {
      const ms = (left(here.at, place.at) + slack) * Math.exp(score + weight * here.pace) - slack
      return new Date(now + Math.max(0, ms))
    }
    const middle = off.length === 0 ? 0 : ranked(off, 0.5)
    return {
      p50: comparable.length === 0 ? null : endAt(middle),
      p90: off.length < MIN_SCORES ? null : endAt(Math.max(middle, tailOf(off))),
      runs: known.length,
      endedRuns: known.length - comparable.length,
      criticalPath: pathTo(end, here.causes).flatMap((on) =>
        layout.isLeaf[on] && (present[2 * on + 1] as number) > place.at ? [(nodes[on] as ForecastNode).id] : [],
      ),
    }
  }
  return {
    of(id) {
      const i = indexes.get(id)
      return i === undefined || (present[2 * i + 1] as number) <= place.at ? null : expect(i)
    },
  }
}

/** Node i has two events: 2i is its beginning, and 2i + 1 its end. */
interface Layout {
  /** Nodes without children. */
  readonly leaves: readonly number[]
  readonly isLeaf: readonly boolean[]
  /** Events, each after its causes. */
  readonly order: readonly number[]
  readonly causes: readonly (readonly number[])[]
}

/** A beginning waits for that of the parent and for the ends of the dependencies, an end for the beginning and for the ends of the children. */
function layOut(nodes: readonly ForecastNode[]): Layout {
  const indexes = new Map(nodes.map(({ id }, i) => [id, i]))
  const causes: number[][] = nodes.flatMap((_, i) => [[], [2 * i]])
  const isLeaf = nodes.map(() => true)
  for (const [i, { parentId, dependencies }] of nodes.entries()) {
    const parent = parentId === null ? undefined : indexes.get(parentId)
    if (parent !== undefined) {
      causes[2 * i]?.push(2 * parent)
      causes[2 * parent + 1]?.push(2 * i + 1)
      isLeaf[parent] = false
    }
    for (const id of dependencies) {
      const other = indexes.get(id)
      if (other !== undefined) causes[2 * i]?.push(2 * other + 1)
    }
  }
  // Deep first, without recursion: a chain of dependencies may be as long as the tree is large.
  const order: number[] = []
  const seen = new Uint8Array(causes.length)
  const stack = [...causes.keys()]
  while (stack.length > 0) {
    const event = stack.at(-1) as number
    if (seen[event] === 0) {
      seen[event] = 1
      for (const cause of causes[event] ?? []) if (seen[cause] === 0) stack.push(cause)
      continue
    }
    stack.pop()
    if (seen[event] === 1) order.push(event)
    seen[event] = 2
  }
  return { leaves: [...nodes.keys()].filter((i) => isLeaf[i]), isLeaf, order, causes }
}

/** The events of a run in milliseconds since its start; NaN: the object took no part. */
function eventsOf(nodes: readonly ForecastNode[], { startedAt, courses }: PastRun): Float64Array {
  const events = new Float64Array(2 * nodes.length).fill(Number.NaN)
  for (const [i, { key }] of nodes.entries()) {
    const course = courses.get(key)
    if (!course) continue
    events[2 * i] = course.from - startedAt
    events[2 * i + 1] = course.to - startedAt
  }
  return events
}

/** How long leaves took in the runs so far, as logarithms: durations differ by factors. */
class Durations {
  /** For each run; NaN: the leaf took no part. */
  readonly #logs: Float64Array[] = []
  readonly #groupOf: readonly number[]
  readonly #own: Means
  readonly #groups: Means

  constructor(nodes: readonly ForecastNode[]) {
    const groups = new Map<string, number>()
    for (const { group } of nodes) if (!groups.has(group)) groups.set(group, groups.size)
    this.#groupOf = nodes.map(({ group }) => groups.get(group) as number)
    this.#own = new Means(nodes.length)
    this.#groups = new Means(groups.size)
  }

  add({ leaves }: Layout, events: Float64Array): void {
    const logs = new Float64Array(this.#groupOf.length).fill(Number.NaN)
    for (const i of leaves) {
      const ms = (events[2 * i + 1] as number) - (events[2 * i] as number)
      if (Number.isNaN(ms)) continue
      logs[i] = Math.log(Math.max(1, ms))
      this.#own.add(i, logs[i])
      this.#groups.add(this.#groupOf[i] as number, logs[i])
    }
    this.#logs.push(logs)
  }

  /** The mean of a leaf, or of its group; NaN: both are unknown. */
  usual(i: number): number {
    const own = this.#own.of(i)
    return Number.isNaN(own) ? this.#groups.of(this.#groupOf[i] as number) : own
  }

  /** The mean of those durations of a leaf that are longer than it has taken so far. */
  usualBeyond(i: number, begun: number): number {
    const least = Math.log(Math.max(1, begun))
    let [sum, count] = [0, 0]
    for (const logs of this.#logs) {
      const log = logs[i] as number
      // Not for NaN.
      if (log > least) {
        sum += log
        count += 1
      }
    }
    return count > 0 ? sum / count : Math.max(this.usual(i), least + Math.log(1 + BEYOND))
  }
}

class Means {
  readonly #sums: Float64Array
  readonly #counts: Float64Array

  constructor(length: number) {
    this.#sums = new Float64Array(length)
    this.#counts = new Float64Array(length)
  }

  add(i: number, value: number): void {
    this.#sums[i] = (this.#sums[i] as number) + value
    this.#counts[i] = (this.#counts[i] as number) + 1
  }

  /** NaN: it has no value. */
  of(i: number): number {
    return (this.#sums[i] as number) / (this.#counts[i] as number)
  }
}

/** How far a run has come: the share of its leaves that have ended, and the time since the last end. */
interface Place {
  readonly at: number
  readonly share: number
  readonly since: number
}
/** When the leaves of a run ended, in order. */
const endsOf = ({ leaves }: Layout, events: Float64Array): Float64Array =>
  Float64Array.from(leaves, (i) => events[2 * i + 1] as number)
    .filter((end) => !Number.isNaN(end))
    .sort()
function placeOf(layout: Layout, events: Float64Array, at: number): Place {
  const ends = endsOf(layout, events)
  const ended = ends.filter((end) => end <= at)
  return { at, share: ended.length / Math.max(1, ends.length), since: at - (ended.at(-1) ?? 0) }
}
/** When an earlier run had come as far. */
function timeAt(layout: Layout, events: Float64Array, { share, since }: Place): number {
  const ends = endsOf(layout, events)
  return since + (ends[Math.floor(share * ends.length + 1e-9) - 1] ?? 0)
}

interface Projection {
  /** When each event was, or will be. */
  readonly at: Float64Array
  /** The cause that each event waited for last; -1: none. */
  readonly causes: Int32Array
  /** The mean of how much longer what has ended took than was expected, as a logarithm. */
  readonly pace: number
}

/** The events of a run as they are expected at a time of it, from the runs so far. Null: a duration is unknown. */
function project(
  { order, causes, isLeaf }: Layout,
  durations: Durations,
  events: Float64Array,
  now: number,
): Projection | null {
  const at = new Float64Array(events.length).fill(Number.NEGATIVE_INFINITY)
  const lastCauses = new Int32Array(events.length).fill(-1)
  let [paces, ended] = [0, 0]
  for (const event of order) {
    const known = events[event] as number
    if (Number.isNaN(known)) continue
    let latest = Number.NEGATIVE_INFINITY
    for (const cause of causes[event] as readonly number[]) {
      const time = at[cause] as number
      if (time < latest) continue
      latest = time
      lastCauses[event] = cause
    }
    const i = event >> 1
    const isLeafEnd = event % 2 === 1 && isLeaf[i] === true
    if (known <= now) {
      at[event] = known
      const usual = isLeafEnd ? durations.usual(i) : Number.NaN
      if (Number.isNaN(usual)) continue
      paces += Math.log(Math.max(1, known - latest)) - usual
      ended += 1
    } else if (isLeafEnd) {
      const usual = latest < now ? durations.usualBeyond(i, now - latest) : durations.usual(i)
      if (Number.isNaN(usual)) return null
      at[event] = latest + Math.exp(usual)
    } else at[event] = Math.max(latest, now)
  }
  return { at, causes: lastCauses, pace: ended === 0 ? 0 : paces / ended }
}

/** How much of the pace of what has ended the rest keeps, from 0 to 1. */
function slopeOf(scores: readonly { readonly x: number; readonly y: number }[]): number {
  const [xy, xx] = scores.reduce(([a, b], { x, y }) => [a + x * y, b + x * x], [0, 0])
  return Math.min(1, Math.max(0, xy / (xx + RIDGE)))
}

/** The quantile that the next one is below with this probability. */
function ranked(sorted: readonly number[], probability: number): number {
  const rank = Math.min(sorted.length, Math.max(1, probability * (sorted.length + 1))) - 1
  const [low, high] = [sorted[Math.floor(rank)] as number, sorted[Math.ceil(rank)] as number]
  return low + (high - low) * (rank - Math.floor(rank))
}
function tailOf(sorted: readonly number[]): number {
  const n = sorted.length
  if (n >= MIN_RANKED) return ranked(sorted, 0.9)
  const mean = sorted.reduce((a, b) => a + b, 0) / n
  const variance = sorted.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (n - 1)
  return mean + (T90[n - 2] as number) * Math.sqrt(variance * (1 + 1 / n))
}

/** The nodes that an event waits for, each for the one before it. */
function pathTo(end: number, causes: Int32Array): readonly number[] {
  const path: number[] = []
  for (let event = end; event >= 0; event = causes[event] as number) if (event & 1) path.push(event >> 1)
  return path.reverse()
}
