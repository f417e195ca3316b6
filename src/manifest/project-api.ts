import type { Limits, ProjectSpec, Subscription, TemplateJob, WantedProject, WorkerTemplate } from './project-spec.ts'

/** Converts a project's spec between its own form and that of the API, which has no maps. */

interface Pair {
  readonly key: string
  readonly value: string
}
interface Variable {
  readonly name: string
  readonly value: string
}
/** A job as it was requested, without omitted fields. */
interface ShownJob {
  readonly name: string
  readonly gadget: string
  readonly args?: readonly string[] | null
  readonly env?: readonly Variable[] | null
  readonly when?: string | null
  readonly dependsOn?: readonly string[] | null
}
/** The spec of a project, as the API returns it. */
export interface ShownProjectSpec {
  readonly workerTemplate:
    | (Omit<WorkerTemplate, 'env' | 'targetLabels'> & {
        readonly env: readonly Variable[]
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
}

/** Selection of the spec in a query of a project. */
export const PROJECT_SPEC_FIELDS = `
  workerTemplate { runtime image command args env { name value } files { path content } timeoutMs workspace targetLabels { key value } }
  subscriptions { source types qualifiers { key value } labels { key value } task }
  limits { maxWorkers maxJobs strategy }`

/** The spec in its own form, from that of the API. */
export function projectSpecOf({ workerTemplate, subscriptions, limits }: ShownProjectSpec): ProjectSpec {
  const { maxWorkers, maxJobs, strategy } = limits
  return {
    workerTemplate: workerTemplate && {
      ...workerTemplate,
      env: envOf(workerTemplate.env),
      targetLabels: mapOf(workerTemplate.targetLabels),
    },
    subscriptions: subscriptions.map(({ source, types, qualifiers, labels, task }) => ({
      ...{ source, types },
      ...{ qualifiers: mapOf(qualifiers), labels: mapOf(labels) },
      task: (task as readonly ShownJob[] | null)?.map(jobOf) ?? null,
    })),
    limits: { maxWorkers, maxJobs, strategy },
  }
}

const jobOf = ({ name, gadget, args, env, when, dependsOn }: ShownJob): TemplateJob => ({
  ...{ name, gadget, args: args ?? [], env: envOf(env ?? []), when: when ?? null, dependsOn: dependsOn ?? null },
})

/** The input of createProject and updateProject, apart from the name. */
export const projectInput = ({ workerTemplate, subscriptions, limits }: WantedProject) => ({
  ...(workerTemplate === undefined
    ? {}
    : {
        workerTemplate: workerTemplate && {
          ...workerTemplate,
          env: variablesOf(workerTemplate.env),
          targetLabels: pairsOf(workerTemplate.targetLabels),
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
})

const mapOf = (pairs: readonly Pair[]): Readonly<Record<string, string>> =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, value]))
const pairsOf = (map: Readonly<Record<string, string>>): readonly Pair[] =>
  Object.entries(map).map(([key, value]) => ({ key, value }))
const envOf = (variables: readonly Variable[]): Readonly<Record<string, string>> =>
  Object.fromEntries(variables.map(({ name, value }) => [name, value]))
const variablesOf = (env: Readonly<Record<string, string>>): readonly Variable[] =>
  Object.entries(env).map(([name, value]) => ({ name, value }))
