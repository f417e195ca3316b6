import { writeDuration } from '../core/parse-duration.ts'
import {
  type ProjectSpec,
  READY_MS,
  type Service,
  type Subscription,
  type TemplateJob,
  type WorkerTemplate,
} from './project-spec.ts'
import { writtenRetry } from './write-manifest.ts'
import { withoutEmpty, writeYaml } from './write-yaml.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * A project's document: its parts, since omitted ones stay as they are, without values that equal the defaults.
 */
export const writeProject = (name: string, spec: ProjectSpec): string => writeYaml(writtenProject(name, spec))

export function writtenProject(
  name: string,
  { workerTemplate, subscriptions, limits, promotesTo }: ProjectSpec,
): Fields {
  const { strategy, ...most } = limits
  return {
    ...{ kind: 'Project', name },
    workerTemplate: workerTemplate && writtenTemplate(workerTemplate),
    subscriptions: subscriptions.map(writtenSubscription),
    promotesTo,
    limits: null,
    ...withoutEmpty({ limits: withoutEmpty({ ...most, strategy: strategy === 'QUEUE' ? null : strategy }) }),
  }
}

const writtenTemplate = ({
  runtime,
  timeoutMs,
  workspace,
  retry,
  files,
  clone,
  limits,
  artifacts,
  caches,
  services,
  ...rest
}: WorkerTemplate): Fields =>
  withoutEmpty({
    runtime: runtime === 'process' ? null : runtime,
    ...rest,
    files: files.map(({ path, content, secret }) => ({ path, ...(secret === null ? { content } : { secret }) })),
    clone: clone && withoutEmpty({ ...clone, depth: clone.depth === 1 ? null : clone.depth }),
    timeout: timeoutMs === null ? null : writeDuration(timeoutMs),
    retry: writtenRetry(retry).retry,
    workspace: workspace || null,
    limits: limits.map(({ limit, key, priority }) => ({
      limit,
      ...withoutEmpty({ key: key || null, priority: priority || null }),
    })),
    caches: caches.map(({ key, restoreKeys, path }) => ({ key, ...withoutEmpty({ restoreKeys }), path })),
    artifacts: artifacts.map(({ name, path, when, optional }) => ({
      ...{ name, path },
      ...withoutEmpty({ when: when === 'SUCCESS' ? null : when, optional: optional || null }),
    })),
    services: services.map(writtenService),
  })

const writtenService = ({ name, readiness: { port, command, timeoutMs }, ports, ...rest }: Service): Fields => ({
  name,
  ...withoutEmpty({
    ...{ ...rest, ports },
    readiness: withoutEmpty({
      port: port === (ports[0] ?? null) ? null : port,
      command,
      timeout: timeoutMs === READY_MS ? null : writeDuration(timeoutMs),
    }),
  }),
})

const writtenSubscription = ({ source, types, task, ...rest }: Subscription): Fields => ({
  ...{ source, types },
  ...withoutEmpty({ ...rest, task: task && { jobs: task.map(writtenJob) } }),
})

/** A job of a task that a subscription or a schedule creates. */
export const writtenJob = ({ name, gadget, dependsOn, retry, ...rest }: TemplateJob): Fields => ({
  ...{ name, gadget },
  ...withoutEmpty(rest),
  // An empty list has a meaning: the jobs of the task are no sequence.
  ...(dependsOn ? { dependsOn } : {}),
  ...writtenRetry(retry),
})
