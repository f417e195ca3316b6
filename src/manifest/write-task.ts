import { envOf, mapOf, type Pair, type Variable } from './pairs.ts'
import type { TemplateJob } from './project-spec.ts'
import { writtenJob } from './write-project.ts'
import { withoutEmpty } from './write-yaml.ts'

/** A task as the API shows it. */
interface ShownTask {
  readonly name: string
  readonly project: { readonly name: string }
  readonly labels: readonly Pair[]
  readonly jobs: readonly {
    readonly name: string
    readonly spec: Omit<TemplateJob, 'name' | 'env' | 'retry' | 'gate'> & {
      readonly env: readonly Variable[]
      readonly retry: unknown
      readonly gate: unknown
    }
  }[]
}

/** The document of `task run` that makes the same once more. */
export const taskManifest = ({ name, project, labels, jobs }: ShownTask) => ({
  ...{ kind: 'Task', name, project: project.name },
  ...withoutEmpty({ labels: mapOf(labels) }),
  jobs: jobs.map(({ name, spec: { env, retry, gate, ...spec } }) =>
    writtenJob({
      ...{ name, ...spec, env: envOf(env) },
      ...{ retry: retry as NonNullable<TemplateJob['retry']>, gate: gate as NonNullable<TemplateJob['gate']> },
    }),
  ),
})
