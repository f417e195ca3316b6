import { appendFile, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { until } from '../testkit/wait.ts'
import type { PerformedFault } from './evidence.ts'
import { machineMs } from './machine-clock.ts'
import type { ChaosPlace } from './place.ts'
import { type FaultKind, type PlannedFault, thingOf } from './schedule.ts'

/** Performs one fault: begins it, and ends it after its time. Returns the target, and since when it was really so, if that is seen. */
type Perform = (place: ChaosPlace, fault: PlannedFault) => Promise<string | { target: string; fromMs: number }>

function at<T>(all: readonly T[], { target, kind }: PlannedFault): T {
  const one = all[target]
  if (one === undefined) throw new Error(`${kind} has no target ${target}`)
  return one
}
const serverOf = ({ servers }: ChaosPlace, fault: PlannedFault) => at(servers, fault)
const wayOf = ({ ways }: ChaosPlace, fault: PlannedFault) => at(ways, fault)
const agentOf = ({ agents }: ChaosPlace, fault: PlannedFault) => at(agents, fault)

/** For a time, and never for longer, whatever happens. */
async function during(forMs: number, begin: () => Disposable): Promise<void> {
  using _ = begin()
  await delay(forMs)
}

/** As a service manager does: on a slow machine a start may lose its database more than once, and then ends. */
async function startAgain(server: { start(): Promise<void> }): Promise<void> {
  for (let left = 2; ; left--) {
    try {
      return await server.start()
    } catch (error) {
      if (left === 0) throw error
    }
  }
}

const PERFORM: Readonly<Record<FaultKind, Perform>> = {
  async 'kill-server'(place, fault) {
    await serverOf(place, fault).kill()
    await delay(fault.forMs)
    await startAgain(serverOf(place, fault))
    return `server-${fault.target}`
  },
  async upgrade(place, fault) {
    await serverOf(place, fault).stop()
    await delay(fault.forMs)
    await startAgain(serverOf(place, fault))
    return `server-${fault.target}`
  },
  async 'freeze-server'(place, fault) {
    const goOn = serverOf(place, fault).freeze()
    await delay(fault.forMs).finally(goOn)
    return `server-${fault.target}`
  },
  async 'kill-agent'(place, fault) {
    await agentOf(place, fault).kill()
    return agentOf(place, fault).name
  },
  async 'freeze-agent'(place, fault) {
    const { pid, name } = agentOf(place, fault)
    if (pid === null) return name
    process.kill(pid, 'SIGSTOP')
    try {
      await until(async () => STOPPED.test(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') T')), {
        what: `${name} stands still`,
      })
      const fromMs = machineMs()
      await delay(fault.forMs)
      return { target: name, fromMs }
    } finally {
      process.kill(pid, 'SIGCONT')
    }
  },
  async 'cut-gateways'(place, { forMs }) {
    await during(forMs, () => place.gateways.cutAll())
    return 'gateways'
  },
  async 'swallow-postgres'(place, fault) {
    await during(fault.forMs, () => wayOf(place, fault).swallow())
    return `server-${fault.target}`
  },
  async 'refuse-postgres'(place, fault) {
    await during(fault.forMs, () => wayOf(place, fault).refuse())
    return `server-${fault.target}`
  },
  async 'kill-postgres'(place) {
    const [row] = await place.query<{ data: string }>(
      "select setting as data from pg_settings where name = 'data_directory'",
    )
    const pid = Number((await readFile(join(row?.data ?? '', 'postmaster.pid'), 'utf8')).split('\n')[0])
    // Its supervisor starts it again.
    process.kill(pid, 'SIGKILL')
    // The next fault needs one that is there.
    await place.query('select 1')
    return 'postgres'
  },
  async 'kill-redis'({ redis }, { forMs }) {
    await redis.kill()
    await delay(forMs)
    await redis.start()
    return 'redis'
  },
  async 'set-clock'(place, fault) {
    const server = serverOf(place, fault)
    server.setClock(fault.forMs % 2 === 0 ? '+600s' : '-600s')
    await delay(fault.forMs)
    server.setClock('+0s')
    return `server-${fault.target}`
  },
  async 'take-connections'({ database: { current } }, { forMs }) {
    const taken: Client[] = []
    try {
      for (;;) {
        const client = new Client(current.connection)
        client.on('error', () => undefined)
        await client.connect()
        taken.push(client)
      }
    } catch {
      await delay(forMs)
    }
    await Promise.all(taken.map((client) => client.end().catch(() => undefined)))
    return 'postgres'
  },
  async 'fill-disk'({ database: { disk } }, { forMs }) {
    if (disk === null) return 'postgres'
    const ballast = join(disk, 'ballast')
    await fill(ballast)
    await delay(forMs)
    await rm(ballast)
    return 'postgres'
  },
  async failover({ database }, { forMs }) {
    await database.failOver(() => delay(forMs))
    return 'postgres'
  },
}
/** The state is behind the name, which may have any characters. */
const STOPPED = /\) [tTX]/

/** Until no byte fits any more. */
async function fill(path: string): Promise<void> {
  const piece = Buffer.alloc(1024 * 1024)
  try {
    for (;;) await appendFile(path, piece)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}

/** Performs each fault at its time, beside those that have begun before. Tells what was done, as it is done. */
export async function performFaults(
  place: ChaosPlace,
  plan: readonly PlannedFault[],
  onFault: (fault: PerformedFault) => void,
): Promise<readonly PerformedFault[]> {
  const since = machineMs()
  const last = new Map<string, Promise<unknown>>()
  const performing = plan.map((fault): Promise<PerformedFault> => {
    const thing = thingOf(fault.kind, fault.target)
    const before = last.get(thing)
    const performed = perform(fault, before)
    last.set(thing, performed)
    return performed
  })
  return Promise.all(performing)

  /** On a slow machine the fault before may last longer than planned: a server that starts is not started twice. */
  async function perform(fault: PlannedFault, before: Promise<unknown> | undefined): Promise<PerformedFault> {
    await delay(Math.max(0, fault.atMs - (machineMs() - since)))
    await before
    const beganMs = machineMs()
    const done = await PERFORM[fault.kind](place, fault)
    const { target, fromMs } = typeof done === 'string' ? { target: done, fromMs: beganMs } : done
    const performed = { kind: fault.kind, target, fromMs, toMs: machineMs() }
    onFault(performed)
    return performed
  }
}
