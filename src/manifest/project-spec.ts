import type { ProjectManifest } from './project.ts'
import type { TaskManifest } from './task.ts'

/** The parts of a project for its pipelines, in one form for the file and the server. */
export interface ProjectSpec {
  readonly workerTemplate: WorkerTemplate | null
  readonly subscriptions: readonly Subscription[]
  readonly limits: Limits
}
type Texts = Readonly<Record<string, string>>
export interface WorkerTemplate {
  readonly runtime: string
  readonly image: string | null
  readonly command: readonly string[]
  readonly args: readonly string[]
  readonly env: Texts
  readonly files: readonly { readonly path: string; readonly content: string }[]
  readonly timeoutMs: number | null
  readonly workspace: boolean
  /** Labels that the place of a worker must have. */
  readonly targetLabels: Texts
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
  const { workerTemplate, subscriptions, limits } = manifest
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
    workspace,
    targetLabels,
  }: NonNullable<ProjectManifest['workerTemplate']>,
  contents: Contents,
): WorkerTemplate {
  return {
    runtime: runtime ?? 'process',
    image: image ?? null,
    command: command ?? [],
    args: args ?? [],
    env: env ?? {},
    files: files.map(({ path }, index) => ({ path, content: contents[index] ?? '' })),
    timeoutMs: timeout ?? null,
    workspace: workspace ?? false,
    targetLabels: targetLabels ?? {},
  }
}

const jobOf = ({ name, gadget, args, env, when, dependsOn }: TaskManifest['jobs'][number]): TemplateJob => ({
  ...{ name, gadget, args: args ?? [], env: env ?? {}, when: when ?? null, dependsOn: dependsOn ?? null },
})

const limitsOf = ({ maxWorkers, maxJobs, strategy }: NonNullable<ProjectManifest['limits']>): Partial<Limits> => ({
  ...(maxWorkers === undefined ? {} : { maxWorkers }),
  ...(maxJobs === undefined ? {} : { maxJobs }),
  ...(strategy === undefined ? {} : { strategy: strategy ?? NO_LIMITS.strategy }),
})
