import type { ContainerInspectInfo } from 'dockerode'
import type { Endings } from '../../../../agents/container/endings.ts'
import type { Engine } from '../../../../agents/container/engine.ts'
import { followContainer } from '../../../../agents/container/follow-container.ts'
import { exitOf } from '../../../../agents/exit-of.ts'
import { Mask } from '../../../../agents/mask.ts'
import { Output } from '../runtime/output.ts'
import type { OutputLimits, Watcher, WorkloadEnd } from '../runtime/runtime.ts'
import { containerName } from './container-of.ts'
import type { Records } from './records.ts'

export interface WatchOptions {
  readonly id: string
  readonly engine: Engine
  readonly endings: Endings
  readonly records: Records
  readonly limits: OutputLimits | undefined
  /** Secrets that its output must not show. */
  readonly masked: readonly string[]
  /** Called when the container runs; an adopted one was started by an earlier process. */
  onAlive(): void
}

const GONE: WorkloadEnd = { how: 'GONE', reason: 'DELETED', message: 'Its container was removed from outside.' }

/** Passes on the lines of a container until its end. Null: the signal aborted. */
export async function watchContainer(options: WatchOptions, watcher: Watcher): Promise<WorkloadEnd | null> {
  const { id, engine, endings, records, limits, masked, onAlive } = options
  const { onLine, signal } = watcher
  const output = new Output({ limits, mask: new Mask(masked), onLine })
  try {
    const end = await followContainer({
      ...{ engine, endings, container: containerName(id), id, signal },
      read: () => records.get(id)?.read ?? { STDOUT: 0, STDERR: 0 },
      onRead: (read) => records.update(id, { read }),
      onOutput: (stream, chunk) => void output.write(stream, chunk),
      onRunning() {
        onAlive()
        watcher.onRunning()
      },
    })
    return end && endOf(end, records.get(id)?.isStopped === true)
  } finally {
    output.end()
  }
}

function endOf(found: ContainerInspectInfo | 'GONE', isStopped: boolean): WorkloadEnd {
  if (isStopped) return { how: 'STOPPED' }
  if (found === 'GONE') return GONE
  const { ExitCode, OOMKilled } = found.State
  return { how: 'EXITED', ...exitOf(ExitCode), ...(OOMKilled ? { outOfMemory: true } : {}) }
}
