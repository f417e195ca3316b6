/**
 * Plays the busiest hour of a day against measured costs. Pure but for its random numbers, which a seed makes. Each part (gateways,
 * engines, Postgres) is a queue with so many servers. A request waits in each of them in turn.
 */

/** Milliseconds of a processor, as `npm run bench -- engines` has measured them. */
export interface Costs {
  readonly treeMs: PartCosts
  readonly itemMs: PartCosts
  /** The gateway's time for each change that a subscriber gets. */
  readonly deliveryMs: number
  readonly changesPerTree: number
  readonly changesPerItem: number
  /** Bytes that a change adds to the database, with the objects that it is about. */
  readonly bytesPerChange: number
  readonly walBytesPerChange: number
}
export interface PartCosts {
  readonly gateway: number
  readonly engines: number
  readonly postgres: number
}
type PartName = keyof PartCosts
export const PART_NAMES = ['gateway', 'engines', 'postgres'] as const satisfies readonly PartName[]

export interface Load {
  readonly treesPerDay: number
  readonly itemsPerTree: number
  /** Items that depend on each other one after the other. */
  readonly depth: number
  /** Seconds that an agent works on an item, on average. */
  readonly workS: number
  /** Clients that follow one tree at a time, e.g. open dashboards. */
  readonly subscribersPerTree: number
  /** The load of the busiest hour as a multiple of the average. */
  readonly peak: number
}
/** Processors that each part may use. A gateway and an engine use one each. */
export type Capacity = Readonly<Record<PartName, number>>

export interface Simulated {
  readonly trees: number
  readonly requests: number
  /** Shares of the capacity, of the hour in which trees begin. */
  readonly busy: Readonly<Record<PartName, number>>
  /** Milliseconds from the arrival of a request to its answer. */
  readonly requestMs: Quantiles
  /** Milliseconds of a tree beyond the work of its agents. */
  readonly overheadMs: Quantiles
  /** Seconds after the hour until the last request was answered: more than the work takes is a backlog. */
  readonly backlogS: number
}
export interface Quantiles {
  readonly p50: number
  readonly p99: number
}

const HOUR_MS = 3_600_000

interface Tree {
  readonly startedAt: number
  readonly waves: number
  /** Unfinished items of the current wave. */
  open: number
  wave: number
  /** Milliseconds of the slowest item of each wave so far. */
  workMs: number
  slowestMs: number
}
interface Request {
  readonly tree: Tree
  readonly kind: 'create' | 'claim' | 'report'
  /** The agent's work on the item. */
  readonly workMs: number
  readonly askedAt: number
  /** Index into PART_NAMES. */
  part: number
}

/** @param random from 0 to 1 */
export function simulate(costs: Costs, load: Load, capacity: Capacity, random: () => number): Simulated {
  const exponential = (mean: number): number => -mean * Math.log(1 - random())
  const queues = PART_NAMES.map((name) => new Queue(Math.max(1, Math.round(capacity[name]))))
  const busyMs = [0, 0, 0]
  const latencies: number[] = []
  const overheads: number[] = []
  const events = new EventHeap<Request>()
  const perHour = (load.treesPerDay / 24) * load.peak
  const delivered = costs.deliveryMs * load.subscribersPerTree
  const items = load.itemsPerTree
  const waves = Math.max(1, Math.min(load.depth, items))
  let trees = 0
  let last = 0
  const meanOf = ({ kind }: Request, part: PartName): number => {
    const delivery = part === 'gateway' ? delivered : 0
    return kind === 'create'
      ? costs.treeMs[part] + delivery * costs.changesPerTree
      : // An item is claimed and reported.
        (costs.itemMs[part] + delivery * costs.changesPerItem) / 2
  }
  const ask = (tree: Tree, kind: Request['kind'], at: number, workMs = 0): void =>
    events.push(at, { tree, kind, workMs, askedAt: at, part: 0 })
  const startWave = (tree: Tree, at: number): void => {
    const size = Math.floor(items / waves) + (tree.wave < items % waves ? 1 : 0)
    Object.assign(tree, { open: size, slowestMs: 0 })
    for (let i = 0; i < size; i++) ask(tree, 'claim', at, exponential(load.workS * 1_000))
  }
  const finish = ({ tree, kind, workMs, askedAt }: Request, at: number): void => {
    latencies.push(at - askedAt)
    if (kind === 'create' && items === 0) return void overheads.push(at - tree.startedAt)
    if (kind === 'create') return startWave(tree, at)
    if (kind === 'claim') return ask(tree, 'report', at + workMs, workMs)
    tree.open -= 1
    tree.slowestMs = Math.max(tree.slowestMs, workMs)
    if (tree.open > 0) return
    tree.workMs += tree.slowestMs
    tree.wave += 1
    if (tree.wave < waves) return startWave(tree, at)
    overheads.push(at - tree.startedAt - tree.workMs)
  }
  for (let at = exponential(HOUR_MS / perHour); at < HOUR_MS; at += exponential(HOUR_MS / perHour)) {
    trees += 1
    ask({ startedAt: at, waves, open: 0, wave: 0, workMs: 0, slowestMs: 0 }, 'create', at)
  }
  for (let event = events.pop(); event; event = events.pop()) {
    const [at, request] = event
    last = Math.max(last, at)
    const part = PART_NAMES[request.part]
    if (!part) {
      finish(request, at)
      continue
    }
    const ms = exponential(meanOf(request, part))
    const endsAt = queues[request.part]?.serve(at, ms) ?? at
    const inHour = Math.max(0, Math.min(endsAt, HOUR_MS) - (endsAt - ms))
    busyMs[request.part] = (busyMs[request.part] ?? 0) + inHour
    request.part += 1
    events.push(endsAt, request)
  }
  const busy = Object.fromEntries(
    PART_NAMES.map((name, i) => [name, (busyMs[i] ?? 0) / HOUR_MS / Math.max(1, Math.round(capacity[name]))]),
  ) as Record<PartName, number>
  return {
    ...{ trees, requests: latencies.length, busy },
    ...{ requestMs: quantiles(latencies), overheadMs: quantiles(overheads) },
    backlogS: Math.max(0, last - HOUR_MS) / 1_000,
  }
}

/** The growth of a day. */
export interface Kept {
  readonly changesPerDay: number
  readonly databaseBytesPerDay: number
  readonly walBytesPerDay: number
}
export function keptOf(costs: Costs, { treesPerDay, itemsPerTree }: Load): Kept {
  const changesPerDay = treesPerDay * (costs.changesPerTree + itemsPerTree * costs.changesPerItem)
  return {
    changesPerDay,
    databaseBytesPerDay: changesPerDay * costs.bytesPerChange,
    walBytesPerDay: changesPerDay * costs.walBytesPerChange,
  }
}

/** Processors that each part needs in the busiest hour, to be busy for this share of the time. */
export function neededCapacity(costs: Costs, load: Load, share: number): Capacity {
  const perMs = (load.treesPerDay * load.peak) / 24 / HOUR_MS
  const { itemsPerTree: items, subscribersPerTree } = load
  const delivered = costs.deliveryMs * subscribersPerTree * (costs.changesPerTree + items * costs.changesPerItem)
  return Object.fromEntries(
    PART_NAMES.map((part) => {
      const ms = costs.treeMs[part] + items * costs.itemMs[part] + (part === 'gateway' ? delivered : 0)
      return [part, Math.max(1, Math.ceil((perMs * ms) / share))]
    }),
  ) as Record<PartName, number>
}

function quantiles(values: readonly number[]): Quantiles {
  const sorted = Float64Array.from(values).sort()
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { p50: at(0.5), p99: at(0.99) }
}

/** Servers that take whoever came first. Arrivals must come in the order of their time. */
class Queue {
  readonly #freeAt: number[]
  constructor(servers: number) {
    this.#freeAt = Array.from({ length: servers }, () => 0)
  }

  /** Returns when it is served. */
  serve(at: number, ms: number): number {
    let first = 0
    for (let i = 1; i < this.#freeAt.length; i++) if ((this.#freeAt[i] ?? 0) < (this.#freeAt[first] ?? 0)) first = i
    const endsAt = Math.max(at, this.#freeAt[first] ?? 0) + ms
    this.#freeAt[first] = endsAt
    return endsAt
  }
}

/** A binary heap, the earliest first. */
class EventHeap<T> {
  readonly #times: number[] = []
  readonly #values: T[] = []

  push(time: number, value: T): void {
    let i = this.#times.length
    while (i > 0) {
      const parent = (i - 1) >> 1
      if ((this.#times[parent] as number) <= time) break
      this.#put(i, this.#times[parent] as number, this.#values[parent] as T)
      i = parent
    }
    this.#put(i, time, value)
  }

  pop(): readonly [number, T] | null {
    if (this.#times.length === 0) return null
    const first = [this.#times[0] as number, this.#values[0] as T] as const
    const time = this.#times.pop() as number
    const value = this.#values.pop() as T
    const size = this.#times.length
    if (size === 0) return first
    let i = 0
    for (let child = 1; child < size; child = 2 * i + 1) {
      const right = child + 1
      if (right < size && (this.#times[right] as number) < (this.#times[child] as number)) child = right
      if ((this.#times[child] as number) >= time) break
      this.#put(i, this.#times[child] as number, this.#values[child] as T)
      i = child
    }
    this.#put(i, time, value)
    return first
  }

  #put(i: number, time: number, value: T): void {
    this.#times[i] = time
    this.#values[i] = value
  }
}
