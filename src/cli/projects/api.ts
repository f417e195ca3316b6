import type { Session } from '../session.ts'
import type { Limits, ProjectSpec, Subscription, WantedProject, WorkerTemplate } from './spec.ts'

/** Between the one form of a project's spec and that of the API, which has no maps. */

interface Pair {
  readonly key: string
  readonly value: string
}
/** A project as the API shows it. */
export interface ShownProject {
  readonly name: string
  readonly createdAt: string
  readonly updatedAt: string
  readonly workerTemplate: (Omit<WorkerTemplate, 'env'> & { readonly env: readonly Variable[] }) | null
  readonly subscriptions: readonly (Pick<Subscription, 'source' | 'types'> & {
    readonly qualifiers: readonly Pair[]
    readonly labels: readonly Pair[]
  })[]
  readonly limits: Limits
  readonly secrets: readonly { readonly name: string; readonly updatedAt: string }[]
}
interface Variable {
  readonly name: string
  readonly value: string
}

const PROJECT = `query Project($name: String!) { project(name: $name) {
  name createdAt updatedAt
  workerTemplate { runtime image command args env { name value } files { path content } timeoutMs workspace }
  subscriptions { source types qualifiers { key value } labels { key value } }
  limits { maxWorkers maxJobs strategy }
  secrets { name updatedAt }
} }`

/** Null when there is none that the user may read. */
export async function readProject({ client, io }: Session, name: string): Promise<ShownProject | null> {
  const { project } = await client.query<{ project: ShownProject | null }>(PROJECT, { name }, { signal: io.signal })
  return project
}

/** What the server has. */
export function specOf({ workerTemplate, subscriptions, limits }: ShownProject): ProjectSpec {
  const { maxWorkers, maxJobs, strategy } = limits
  return {
    workerTemplate: workerTemplate && {
      ...workerTemplate,
      env: Object.fromEntries(workerTemplate.env.map(({ name, value }) => [name, value])),
    },
    subscriptions: subscriptions.map(({ source, types, qualifiers, labels }) => ({
      ...{ source, types },
      ...{ qualifiers: mapOf(qualifiers), labels: mapOf(labels) },
    })),
    limits: { maxWorkers, maxJobs, strategy },
  }
}

/** What createProject and updateProject take beside the name. */
export const inputOf = ({ workerTemplate, subscriptions, limits }: WantedProject): object => ({
  ...(workerTemplate === undefined
    ? {}
    : {
        workerTemplate: workerTemplate && {
          ...workerTemplate,
          env: Object.entries(workerTemplate.env).map(([name, value]) => ({ name, value })),
        },
      }),
  ...(subscriptions === undefined
    ? {}
    : {
        subscriptions: subscriptions.map(({ qualifiers, labels, ...rest }) => ({
          ...rest,
          ...{ qualifiers: pairsOf(qualifiers), labels: pairsOf(labels) },
        })),
      }),
  ...(limits === undefined ? {} : { limits }),
})

const mapOf = (pairs: readonly Pair[]): Readonly<Record<string, string>> =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, value]))
const pairsOf = (map: Readonly<Record<string, string>>): readonly Pair[] =>
  Object.entries(map).map(([key, value]) => ({ key, value }))
