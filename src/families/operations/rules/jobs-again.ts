import { predecessors } from './normalise-task.ts'
import type { JobSpec } from './spec.ts'

/** A job of a task that has ended. */
export interface EndedJob {
  readonly spec: JobSpec
  readonly isDone: boolean
}
export interface JobsAgain {
  /** In their order. A dependency on a job that is left out is one on what came before that. */
  readonly jobs: readonly JobSpec[]
  /** Names of those that do not run, since they are DONE. */
  readonly inherited: ReadonlySet<string>
}

/** The chosen jobs, and those before them that are DONE, whose exports they may use. All others are left out. */
export function jobsAgain(ended: readonly EndedJob[], chosen: ReadonlySet<string>): JobsAgain {
  const before = predecessors(ended.map(({ spec }) => spec))
  const needed = new Set([...chosen].flatMap((name) => [...(before.get(name) ?? [])]))
  const inherited = new Set(
    ended
      .filter(({ spec: { name }, isDone }) => isDone && needed.has(name) && !chosen.has(name))
      .map(({ spec }) => spec.name),
  )
  const specs = new Map(ended.map(({ spec }) => [spec.name, spec]))
  const kept = [...specs.values()].filter(({ name }) => chosen.has(name) || inherited.has(name))
  const jobs = kept.map((spec) => ({
    ...spec,
    dependsOn: nearest(spec, specs, (name) => chosen.has(name) || inherited.has(name)),
  }))
  return { jobs, inherited }
}

/** The kept jobs that come before a job, with none of them in between. */
function nearest(
  { dependsOn }: JobSpec,
  specs: ReadonlyMap<string, JobSpec>,
  isKept: (name: string) => boolean,
): readonly string[] {
  const found = new Set(dependsOn)
  // A set that grows is read to its end.
  for (const name of found) if (!isKept(name)) for (const other of specs.get(name)?.dependsOn ?? []) found.add(other)
  return [...found].filter(isKept)
}
