import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import Docker from 'dockerode'
import { until } from '../testkit/wait.ts'

export interface Starts extends Disposable {
  /** How often the engine has started the containers of these names, once it has told of each. */
  of(names: readonly string[]): Promise<readonly number[]>
}

interface EngineEvent {
  readonly Actor: { readonly Attributes: { readonly name?: string } }
}

/** Counts starts of containers as the engine itself tells them, from now on: an engine keeps only its newest events. */
export async function countStarts(socketPath: string): Promise<Starts> {
  const counts = new Map<string, number>()
  const filters = JSON.stringify({ type: ['container'], event: ['start'] })
  const events = Readable.from(await new Docker({ socketPath }).getEvents({ filters }))
  createInterface({ input: events }).on('line', (line) => {
    const { name = '' } = (JSON.parse(line) as EngineEvent).Actor.Attributes
    counts.set(name, (counts.get(name) ?? 0) + 1)
  })
  return {
    async of(names) {
      await until(() => names.every((name) => counts.has(name)), { what: 'all starts are told' })
      return names.map((name) => counts.get(name) ?? 0)
    },
    [Symbol.dispose]: () => void events.destroy(),
  }
}
