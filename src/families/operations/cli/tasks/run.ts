import { everyFile } from '../../../../cli/manifests/every-file.ts'
import { readSourced } from '../../../../cli/manifests/one-document.ts'
import { atSource } from '../../../../cli/manifests/source.ts'
import type { Located } from '../../../../cli/objects/address.ts'
import { anyVerb, follow } from '../../../../cli/objects/follow.ts'
import type { Session } from '../../../../cli/session.ts'
import { ask } from '../../../../cli/terminal/ask.ts'
import { EXIT, type ExitCode, worst } from '../../../../cli/terminal/exit.ts'
import type { Decision } from '../../../../cli/tree/undecided.ts'
import { invalid, REFUSAL_FRAGMENT } from '../../../../client-model/index.ts'
import { gql } from '../../../../documents/gql.ts'
import type { ResultOf } from '../../../../documents/typed-document.ts'
import { type TaskManifest, taskInput, taskSchema } from '../../../../manifest/index.ts'
import { decideCommands } from './describe.ts'

interface NewTaskOptions {
  readonly key?: string
  readonly follow?: boolean
}
export interface RunOptions extends NewTaskOptions {
  readonly file: readonly string[]
  readonly project?: string
}
export interface RetryTaskOptions extends NewTaskOptions {
  readonly job?: readonly string[]
  readonly all?: boolean
  readonly name?: string
}

const NEW = `{ __typename ... on Task { id name phase project { name } } ...Refusal }
}\n${REFUSAL_FRAGMENT}` as const
const CREATE = gql(`mutation RunTask($input: CreateTaskInput!) {
  answer: createTask(input: $input) ${NEW}`)
const RETRY = gql(`mutation RetryTask($input: RetryTaskInput!) {
  answer: retryTask(input: $input) ${NEW}`)
type Created = Extract<ResultOf<typeof CREATE>['answer'], { readonly id: string }>

/**
 * `task run`: creates the task of each file. With `follow`, ok when all SUCCEEDED; it ends when only a person can
 * continue.
 */
export async function runTask(session: Session, options: RunOptions): Promise<ExitCode> {
  const { file: files, key, follow: isFollowed } = options
  const read = await everyFile(files, (file) => readSourced(session.io, file, { schema: taskSchema, what: 'a task' }))
  if (!read.ok) return session.refuse(read.refusal)
  const isOne = read.value.length === 1
  if (key !== undefined && !isOne) return session.refuse(invalid('--key is of one task: give one file.'))
  const codes: ExitCode[] = [EXIT.ok]
  const created: Created[] = []
  for (const { value: task, source } of read.value) {
    const outcome = await ask(session, CREATE, inputOf(task, options))
    if (outcome.ok) {
      created.push(outcome.value)
      sayCreated(session, outcome.value)
      continue
    }
    const refusal = atSource(outcome.refusal, source)
    const which = isOne ? '' : `${projectOf(task, options)}/${task.name}: `
    codes.push(session.refuse({ ...refusal, message: `${which}${refusal.message}` }))
    if (refusal.code === 'ALREADY_EXISTS')
      session.note(`To run that one again: phaseline task retry ${projectOf(task, options)}/${task.name} --all`)
  }
  if (isFollowed) for (const task of created) codes.push(await followTask(session, task))
  return worst(codes)
}

/** `task retry`: a new task with what was not done of one that has ended, or with the jobs that the options choose. */
export async function retryTask(
  session: Session,
  { id }: Located,
  { job, all = false, name, key, follow: isFollowed }: RetryTaskOptions,
): Promise<ExitCode> {
  const outcome = await ask(session, RETRY, {
    ...{ id, unsuccessful: !all && job === undefined },
    ...(job && { jobs: job }),
    ...(name !== undefined && { name }),
    ...(key !== undefined && { idempotencyKey: key }),
  })
  if (!outcome.ok) return session.refuse(outcome.refusal)
  sayCreated(session, outcome.value)
  return isFollowed ? await followTask(session, outcome.value) : EXIT.ok
}

const followTask = (session: Session, { id, project }: Created): Promise<ExitCode> =>
  follow(session, id, ({ outcome }) => outcome === 'succeeded', {
    howTo: (decision: Decision) => howToDecide(decision, project.name),
  })

/** A job of another task has an id only for those who may read it. */
function howToDecide(decision: Decision, project: string): readonly string[] {
  const { node, path, blocker } = decision
  const { object, verbs = [] } = blocker
  // It waits at a gate.
  if (verbs.some(({ name }) => name === 'approve' || name === 'reject')) return anyVerb(decision)
  if (object?.id === node.id) return decideCommands(`${project}/${path}`)
  return object ? decideCommands(object.id) : []
}

function sayCreated(session: Session, { id, name, phase, project }: Created): void {
  session.emit({ id, name, project, phase })
  session.say(`${project.name}/${name} created, now ${phase}  ${session.paint('dim', id)}`)
}

/** The project of the file takes precedence over the option, as for installations. */
const projectOf = (task: TaskManifest, { project = 'default' }: RunOptions): string => task.project ?? project

const inputOf = (task: TaskManifest, { key, ...options }: RunOptions) => ({
  ...taskInput(task, projectOf(task, options)),
  ...(key === undefined ? {} : { idempotencyKey: key }),
})
