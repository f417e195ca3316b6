import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { disconnect, forkModule } from './processes.ts'
import type { Answer, Command, Opening, Progress, Samples } from './subscribers-protocol.ts'

/** So many WebSocket subscribers in a process of their own. Disposing disconnects them all. */
export interface Subscribers extends AsyncDisposable {
  /** The latest progress, which comes every 10 ms while messages come. */
  readonly progress: Progress
  /** Called with each progress. Throws from `check` are not caught: a broken subscriber ends the measurement. */
  onProgress(handler: (progress: Progress) => void): void
  /** Throws when a subscriber was disconnected, or got something else than messages. */
  check(): void
  sample(oneIn: number): void
  collect(): Promise<Samples>
}

const NOTHING: Progress = { type: 'progress', delivered: 0, reached: 0, outOfOrder: 0, bytes: 0, cpuMs: 0, at: 0 }

export async function openSubscribers(opening: Opening): Promise<Subscribers> {
  const launched = forkModule(join(import.meta.dirname, 'subscribers-process.ts'), {
    serialization: 'advanced',
    // Sockets of subscribers cost little, garbage in bursts costs pauses.
    execArgv: ['--max-semi-space-size=32'],
  })
  const { child, ended } = launched
  let progress = NOTHING
  let failure: string | null = null
  const opened = Promise.withResolvers<void>()
  const handlers: ((progress: Progress) => void)[] = []
  let samples = Promise.withResolvers<Samples>()
  child.on('message', (answer: Answer) => {
    if (answer.type === 'progress') {
      progress = answer
      for (const handler of handlers) handler(answer)
    } else if (answer.type === 'samples') samples.resolve(answer)
    else if (answer.type === 'opened') opened.resolve()
    else {
      failure ??= answer.message
      opened.reject(new Error(answer.message))
    }
  })
  void ended.then((code) => opened.reject(new Error(`the subscribers ended with ${code}`)))
  command(child, { type: 'open', opening })
  await opened.promise
  return {
    get progress() {
      return progress
    },
    onProgress: (handler) => void handlers.push(handler),
    check() {
      if (failure) throw new Error(failure)
    },
    sample: (oneIn) => command(child, { type: 'sample', oneIn }),
    async collect() {
      samples = Promise.withResolvers()
      command(child, { type: 'collect' })
      return await samples.promise
    },
    [Symbol.asyncDispose]: () => disconnect(launched),
  }
}

const command = (child: ChildProcess, message: Command): void => void child.send(message)
