import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import Docker from 'dockerode'
import { until } from '../testkit/wait.ts'

export interface Starts extends Disposable {
  /** How often the engine has started the containers of these names, once it has told of each. */
  of(names: readonly string[]): Promise<readonly number[]>
}

interface EngineEvent {
  /** Nanoseconds since 1970. */
  readonly timeNano: number
  readonly Actor: { readonly Attributes: { readonly name?: string } }
}

/** Counts starts of containers as the engine itself tells them, from now on: an engine keeps only its newest events. */
export async function countStarts(socketPath: string): Promise<Starts> {
  const times = new Map<string, Set<number>>()
  const filters = JSON.stringify({ type: ['container'], event: ['start'] })
  const events = Readable.from(await new Docker({ socketPath }).getEvents({ filters }))
  createInterface({ input: events }).on('line', (line) => {
    const { timeNano, Actor } = JSON.parse(line) as EngineEvent
    const { name = '' } = Actor.Attributes
    // Podman tells its whole file of events once more when it has moved it out of the way.
    times.set(name, (times.get(name) ?? new Set()).add(timeNano))
  })
  return {
    async of(names) {
      await until(() => names.every((name) => times.has(name)), { what: 'all starts are told' })
      return names.map((name) => times.get(name)?.size ?? 0)
    },
    [Symbol.dispose]: () => void events.destroy(),
  }
}
