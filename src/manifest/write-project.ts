import { writeDuration } from './parse-duration.ts'
import type { ProjectSpec, Subscription, TemplateJob, WorkerTemplate } from './project-spec.ts'
import { writeYaml } from './write-yaml.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * A project's document: its three parts, since omitted ones stay as they are, without values that equal the defaults.
 */
export function writeProject(name: string, { workerTemplate, subscriptions, limits }: ProjectSpec): string {
  const { strategy, ...most } = limits
  const document = {
    ...{ kind: 'Project', name },
    workerTemplate: workerTemplate && writtenTemplate(workerTemplate),
    subscriptions: subscriptions.map(writtenSubscription),
    limits: null,
    ...some({ limits: some({ ...most, strategy: strategy === 'QUEUE' ? null : strategy }) }),
  }
  return writeYaml(document)
}

const writtenTemplate = ({ runtime, timeoutMs, workspace, ...rest }: WorkerTemplate): Fields =>
  some({
    runtime: runtime === 'process' ? null : runtime,
    ...rest,
    timeout: timeoutMs === null ? null : writeDuration(timeoutMs),
    workspace: workspace || null,
  })

const writtenSubscription = ({ source, types, task, ...rest }: Subscription): Fields => ({
  ...{ source, types },
  ...some({ ...rest, task: task && { jobs: task.map(writtenJob) } }),
})

const writtenJob = ({ name, gadget, dependsOn, ...rest }: TemplateJob): Fields => ({
  ...{ name, gadget },
  ...some(rest),
  // An empty list has a meaning: the jobs of the task are no sequence.
  ...(dependsOn ? { dependsOn } : {}),
})

/** True if there is a value: neither null nor empty. */
const some = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).filter(
      ([, value]) => value !== null && !(typeof value === 'object' && Object.keys(value as object).length === 0),
    ),
  )
