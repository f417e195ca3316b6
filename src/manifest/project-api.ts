import type { GateManifest } from './gate.ts'
import type { RetryManifest } from './installation.ts'
import { envOf, mapOf, type Pair, pairsOf, type Variable, variablesOf } from './pairs.ts'
import type {
  Limits,
  ProjectSpec,
  Service,
  Subscription,
  TemplateJob,
  WantedProject,
  WorkerTemplate,
} from './project-spec.ts'

/** Converts a project's spec between its own form and that of the API, which has no maps. */

/** A job as it was requested, without omitted fields. */
interface ShownJob {
  readonly name: string
  readonly gadget: string
  readonly args?: readonly string[] | null
  readonly env?: readonly Variable[] | null
  readonly when?: string | null
  readonly dependsOn?: readonly string[] | null
  readonly retry?: RetryManifest | null
  readonly gate?: GateManifest | null
}
/** The spec of a project, as the API returns it. */
export interface ShownProjectSpec {
  readonly workerTemplate:
    | (Omit<WorkerTemplate, 'env' | 'targetLabels' | 'services' | 'gate'> & {
        readonly gate: unknown
        readonly env: readonly Variable[]
        readonly services: readonly (Omit<Service, 'env'> & { readonly env: readonly Variable[] })[]
        readonly targetLabels: readonly Pair[]
      })
    | null
  readonly subscriptions: readonly (Pick<Subscription, 'source' | 'types'> & {
    readonly qualifiers: readonly Pair[]
    readonly labels: readonly Pair[]
    /** JSON: the requested jobs of the task; null: the subscription creates a worker. */
    readonly task: unknown
  })[]
  readonly limits: Limits
  readonly promotesTo: string | null
}

/** Selection of a retry policy. */
export const RETRY_FIELDS = 'attempts backoff { initialMs factor maxMs jitter } on not attemptTimeoutMs'

/** Selection of the program of a worker or a job. */
export const WORKLOAD_SPEC_FIELDS = `
    runtime image command args env { name value } files { path content secret } timeoutMs retry { ${RETRY_FIELDS} } workspace targetLabels { key value } limits { limit key priority } gate
    caches { key restoreKeys path } artifacts { name path when optional } clone { url ref depth path secret }
    services { name image command args env { name value } secrets ports user readiness { port command timeoutMs } }`

/** Selection of the spec in a query of a project. */
export const PROJECT_SPEC_FIELDS = `
  workerTemplate {${WORKLOAD_SPEC_FIELDS} }
  subscriptions { source types qualifiers { key value } labels { key value } task }
  limits { maxWorkers maxJobs strategy }
  promotesTo`

/** The spec in its own form, from that of the API. */
export function projectSpecOf({ workerTemplate, subscriptions, limits, promotesTo }: ShownProjectSpec): ProjectSpec {
  const { maxWorkers, maxJobs, strategy } = limits
  return {
    workerTemplate: workerTemplate && {
      ...workerTemplate,
      env: envOf(workerTemplate.env),
      gate: workerTemplate.gate as WorkerTemplate['gate'],
      targetLabels: mapOf(workerTemplate.targetLabels),
      services: workerTemplate.services.map((service) => ({ ...service, env: envOf(service.env) })),
    },
    subscriptions: subscriptions.map(({ source, types, qualifiers, labels, task }) => ({
      ...{ source, types },
      ...{ qualifiers: mapOf(qualifiers), labels: mapOf(labels) },
      task: (task as readonly ShownJob[] | null)?.map(jobOf) ?? null,
    })),
    limits: { maxWorkers, maxJobs, strategy },
    promotesTo,
  }
}

const jobOf = ({ name, gadget, args, env, when, dependsOn, retry, gate }: ShownJob): TemplateJob => ({
  ...{ name, gadget, args: args ?? [], env: envOf(env ?? []), when: when ?? null, dependsOn: dependsOn ?? null },
  ...(retry ? { retry } : {}),
  ...(gate ? { gate } : {}),
})

/** The input of createProject and updateProject, apart from the name. */
export const projectInput = ({ workerTemplate, subscriptions, limits, promotesTo }: WantedProject) => ({
  ...(workerTemplate === undefined
    ? {}
    : {
        workerTemplate: workerTemplate && {
          ...workerTemplate,
          env: variablesOf(workerTemplate.env),
          targetLabels: pairsOf(workerTemplate.targetLabels),
          services: workerTemplate.services.map(({ env, ...service }) => ({ ...service, env: variablesOf(env) })),
          files: workerTemplate.files.map(({ path, content, secret }) =>
            secret === null ? { path, content } : { path, secret },
          ),
        },
      }),
  ...(subscriptions === undefined
    ? {}
    : {
        subscriptions: subscriptions.map(({ qualifiers, labels, task, ...rest }) => ({
          ...rest,
          ...{ qualifiers: pairsOf(qualifiers), labels: pairsOf(labels) },
          task: task && { jobs: task.map((job) => ({ ...job, env: variablesOf(job.env) })) },
        })),
      }),
  ...(limits === undefined ? {} : { limits }),
  ...(promotesTo === undefined ? {} : { promotesTo }),
})
