import type { LimitRequest } from '../core/limit-request.ts'
import { fillPolicy, type RetryPolicy } from '../core/retry.ts'
import type { GateManifest } from './gate.ts'
import type { RetryManifest } from './installation.ts'
import type { CloneManifest, ProjectManifest, ServiceManifest } from './project.ts'
import type { TaskManifest } from './task.ts'

/** The parts of a project for its pipelines, in one form for the file and the server. */
export interface ProjectSpec {
  readonly workerTemplate: WorkerTemplate | null
  readonly subscriptions: readonly Subscription[]
  readonly limits: Limits
  /** The project of the next environment; null: none. */
  readonly promotesTo: string | null
}
type Texts = Readonly<Record<string, string>>
export interface WorkerTemplate {
  readonly runtime: string
  readonly image: string | null
  readonly command: readonly string[]
  readonly args: readonly string[]
  readonly env: Texts
  readonly files: readonly TemplateFile[]
  readonly timeoutMs: number | null
  readonly retry: RetryPolicy | null
  readonly workspace: boolean
  /** Labels that the place of a worker must have. */
  readonly targetLabels: Texts
  /** Limits that a worker holds while it runs. */
  readonly limits: readonly LimitRequest[]
  /** The gate at which a worker waits; null: none. */
  readonly gate: GateManifest | null
  /** Files and folders that a worker finds as an earlier one has left them. */
  readonly caches: readonly { readonly key: string; readonly restoreKeys: readonly string[]; readonly path: string }[]
  /** Parts of the working folder of a worker that are kept when it ends. */
  readonly artifacts: readonly {
    readonly name: string
    readonly path: string
    readonly when: 'SUCCESS' | 'ALWAYS'
    readonly optional: boolean
  }[]
  readonly clone: Clone | null
  /** Programs that run beside a worker, in the order in which they start. */
  readonly services: readonly Service[]
}
/** A program that runs beside a worker, starts before it and ends with it. */
export interface Service {
  readonly name: string
  readonly image: string | null
  readonly command: readonly string[]
  readonly args: readonly string[]
  readonly env: Texts
  /** Names of the secrets that it gets. */
  readonly secrets: readonly string[]
  readonly ports: readonly number[]
  readonly user: number | null
  /** Without a port and a command: as soon as it runs. */
  readonly readiness: {
    readonly port: number | null
    readonly command: readonly string[]
    readonly timeoutMs: number
  }
}
export interface TemplateFile {
  readonly path: string
  /** Empty if a secret is its content. */
  readonly content: string
  /** The name of the secret that is its content; null: the content is given. */
  readonly secret: string | null
}
/** The repository that a runtime clones before the start. */
export interface Clone {
  readonly url: string
  /** Null: the default branch. */
  readonly ref: string | null
  /** Commits of history; 0: all. */
  readonly depth: number
  /** Null: the working folder. */
  readonly path: string | null
  readonly secret: string | null
}
export interface Subscription {
  readonly source: string
  readonly types: readonly string[]
  readonly qualifiers: Texts
  readonly labels: Texts
  /** The task that is created instead of a worker; null: a worker is created. */
  readonly task: readonly TemplateJob[] | null
}
export interface TemplateJob {
  readonly name: string
  readonly gadget: string
  readonly args: readonly string[]
  readonly env: Texts
  readonly when: string | null
  /** Null: none is named. If no job of the task names any, the jobs are a sequence. */
  readonly dependsOn: readonly string[] | null
  /** As it is written; absent: a failure is final. */
  readonly retry?: RetryManifest
  /** Absent: it has none. */
  readonly gate?: GateManifest
}
export interface Limits {
  readonly maxWorkers: number | null
  readonly maxJobs: number | null
  readonly strategy: 'QUEUE' | 'LATEST_ONLY'
}
/** Only the parts that the file names. */
export type WantedProject = Partial<Omit<ProjectSpec, 'limits'>> & { readonly limits?: Partial<Limits> }

/** The contents of the template's files, in their order. */
export type Contents = readonly string[]

const NO_LIMITS: Limits = { maxWorkers: null, maxJobs: null, strategy: 'QUEUE' }

/** The spec of a manifest, with defaults filled in. */
export function wantedProject(manifest: ProjectManifest, contents: Contents): WantedProject {
  const { workerTemplate, subscriptions, limits, promotesTo } = manifest
  return {
    ...(workerTemplate === undefined ? {} : { workerTemplate: workerTemplate && templateOf(workerTemplate, contents) }),
    ...(subscriptions === undefined
      ? {}
      : {
          subscriptions: subscriptions.map(({ source, types, qualifiers = {}, labels = {}, task }) => ({
            ...{ source, types: [...new Set(types)], qualifiers, labels },
            task: task?.jobs.map(jobOf) ?? null,
          })),
        }),
    ...(limits === undefined ? {} : { limits: limits === null ? NO_LIMITS : limitsOf(limits) }),
    ...(promotesTo === undefined ? {} : { promotesTo }),
  }
}

function templateOf(
  {
    runtime,
    image,
    command,
    args,
    env,
    files = [],
    timeout,
    retry,
    workspace,
    targetLabels,
    limits = [],
    gate,
    artifacts = [],
    clone,
    caches = [],
    services = [],
  }: NonNullable<ProjectManifest['workerTemplate']>,
  contents: Contents,
): WorkerTemplate {
  return {
    runtime: runtime ?? 'process',
    image: image ?? null,
    command: command ?? [],
    args: args ?? [],
    env: env ?? {},
    files: files.map(({ path, secret = null }, index) => ({ path, content: contents[index] ?? '', secret })),
    timeoutMs: timeout ?? null,
    retry: retry ? fillPolicy(retry) : null,
    workspace: workspace ?? false,
    targetLabels: targetLabels ?? {},
    limits: limits.map(({ limit, key = '', priority = 0 }) => ({ limit, key, priority })),
    gate: gate ?? null,
    caches: caches.map(({ key, restoreKeys = [], path }) => ({ key, restoreKeys, path })),
    artifacts: artifacts.map(({ name, path, when = 'SUCCESS', optional = false }) => ({ name, path, when, optional })),
    clone: clone ? cloneOf(clone) : null,
    services: services.map(serviceOf),
  }
}

/** How long a service may take to be ready, unless the manifest says so. */
export const READY_MS = 60_000

const serviceOf = ({
  name,
  image,
  command,
  args,
  env,
  secrets,
  ports = [],
  user,
  readiness,
}: ServiceManifest): Service => ({
  ...{ name, image: image ?? null, command: command ?? [], args: args ?? [], env: env ?? {} },
  ...{ secrets: secrets ?? [], ports, user: user ?? null },
  readiness: {
    port: readiness?.command ? null : (readiness?.port ?? ports[0] ?? null),
    command: readiness?.command ?? [],
    timeoutMs: readiness?.timeout ?? READY_MS,
  },
})

const cloneOf = ({ url, ref, depth, path, secret }: CloneManifest): Clone => ({
  ...{ url, ref: ref ?? null, depth: depth ?? 1, path: path ?? null, secret: secret ?? null },
})

const jobOf = ({
  name,
  gadget,
  args,
  env,
  when,
  dependsOn,
  retry,
  gate,
}: TaskManifest['jobs'][number]): TemplateJob => ({
  ...{ name, gadget, args: args ?? [], env: env ?? {}, when: when ?? null, dependsOn: dependsOn ?? null },
  ...(retry ? { retry } : {}),
  ...(gate ? { gate } : {}),
})

const limitsOf = ({ maxWorkers, maxJobs, strategy }: NonNullable<ProjectManifest['limits']>): Partial<Limits> => ({
  ...(maxWorkers === undefined ? {} : { maxWorkers }),
  ...(maxJobs === undefined ? {} : { maxJobs }),
  ...(strategy === undefined ? {} : { strategy: strategy ?? NO_LIMITS.strategy }),
})
