import type { runAgent, WorkItem } from 'phaseline/client'

type Options = Parameters<typeof runAgent>[0]
type Context = Parameters<Options['work']>[1]

/** The type of deploy items that this agent deploys. */
export const TYPE = 'my-type'

/**
 * Deploys one item, or removes it. `config` comes from the manifest, with every expression resolved. Put your own work
 * here: it may run again after a crash, so it should look before it creates.
 */
export async function work(item: WorkItem, { log, report, signal }: Context) {
  log('STDOUT', `${item.action} ${item.name}`)
  if (item.action === 'DELETE') return { phase: 'GONE' } as const
  const { greeting } = item.config as { greeting?: string }
  if (greeting === undefined) {
    return { phase: 'FAILED', error: { code: 'NO_GREETING', message: 'config.greeting is missing.' } } as const
  }
  report({ progress: { step: 'Greeting', value: 1, total: 2 } })
  if (signal.aborted) return { phase: 'ABORTED' } as const
  return { phase: 'SUCCEEDED', exports: { greeted: `${greeting}, ${item.name}!` } } as const
}
