import { ask } from '../ask.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { follow } from '../follow.ts'
import { describeProblem } from '../manifest.ts'
import { readInput } from '../read-input.ts'
import { invalid, type Outcome, REFUSAL_FRAGMENT, refused } from '../refusal.ts'
import type { Session } from '../session.ts'
import { plain } from '../text.ts'
import { parseTask } from './manifest.ts'
import type { TaskManifest } from './schema.ts'

export interface RunOptions {
  readonly file: string
  readonly project?: string
  readonly key?: string
  readonly follow?: boolean
}
interface Created {
  readonly id: string
  readonly name: string
  readonly phase: string
  readonly project: { readonly name: string }
}

const CREATE = `mutation RunTask($input: CreateTaskInput!) {
  answer: createTask(input: $input) { __typename ... on Task { id name phase project { name } } ...Refusal }
}\n${REFUSAL_FRAGMENT}`

/** `task run`: the task of a file; to follow it is to see how it ends, ok when it SUCCEEDED. */
export async function runTask(session: Session, options: RunOptions): Promise<ExitCode> {
  const read = await readTask(session, options.file)
  if (!read.ok) return session.refuse(read.refusal)
  const outcome = await ask<Created>(session, CREATE, inputOf(read.value, options))
  if (!outcome.ok) return session.refuse(outcome.refusal)
  const { id, name, phase, project } = outcome.value
  session.emit({ id, name, project, phase })
  session.say(`${plain(`${project.name}/${name}`)} created, now ${phase}  ${session.paint('dim', id)}`)
  return options.follow ? await follow(session, id, (result) => result.outcome === 'succeeded') : EXIT.ok
}

async function readTask({ io }: Session, file: string): Promise<Outcome<TaskManifest>> {
  const input = await readInput(file, io.stdin)
  if (!input.ok) return refused(invalid(input.message))
  const parsed = parseTask(input.text)
  if (parsed.ok) return { ok: true, value: parsed.manifest }
  const shown = file === '-' ? '<stdin>' : file
  const fields = parsed.problems.map((problem) => ({
    path: describeProblem(shown, { ...problem, message: '' }),
    message: problem.message,
  }))
  return refused(invalid(`${shown} is not valid.`, fields))
}

/** The project that the file names goes before the option's, as for installations. */
const inputOf = ({ name, project, labels, jobs }: TaskManifest, options: RunOptions): object => ({
  name,
  project: project ?? options.project ?? 'default',
  ...(labels ? { labels: Object.entries(labels).map(([key, value]) => ({ key, value })) } : {}),
  jobs: jobs.map(({ env, ...job }) => ({
    ...job,
    ...(env ? { env: Object.entries(env).map(([key, value]) => ({ name: key, value })) } : {}),
  })),
  ...(options.key === undefined ? {} : { idempotencyKey: options.key }),
})
