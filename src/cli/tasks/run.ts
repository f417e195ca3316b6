import { type TaskManifest, taskInput, taskSchema } from '../../manifest/index.ts'
import { ask } from '../ask.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { follow } from '../follow.ts'
import { readOne } from '../one-document.ts'
import { REFUSAL_FRAGMENT } from '../refusal.ts'
import type { Session } from '../session.ts'
import { plain } from '../text.ts'

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
  const read = await readOne(session.io, options.file, { schema: taskSchema, what: 'a task' })
  if (!read.ok) return session.refuse(read.refusal)
  const outcome = await ask<Created>(session, CREATE, inputOf(read.value, options))
  if (!outcome.ok) return session.refuse(outcome.refusal)
  const { id, name, phase, project } = outcome.value
  session.emit({ id, name, project, phase })
  session.say(`${plain(`${project.name}/${name}`)} created, now ${phase}  ${session.paint('dim', id)}`)
  return options.follow ? await follow(session, id, (result) => result.outcome === 'succeeded') : EXIT.ok
}

/** The project that the file names goes before the option's, as for installations. */
const inputOf = (task: TaskManifest, { project = 'default', key }: RunOptions): object => ({
  ...taskInput(task, project),
  ...(key === undefined ? {} : { idempotencyKey: key }),
})
