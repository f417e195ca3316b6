import { type Located, locate } from '../objects/address.ts'
import { invalid, type Outcome, refused } from '../objects/refusal.ts'
import type { Session } from '../session.ts'
import { plain, words } from '../terminal/text.ts'

export interface TaskAddress {
  readonly project?: string
}

/** The task that is meant by an id, `copy` in the project, or `ops/copy`; what is no task is refused. */
export const locateTask = (session: Session, text: string, address: TaskAddress): Promise<Outcome<Located>> =>
  locateOnly(session, text, 'TASK', address)

/** The job that is meant by an id, `copy/dump` in the project, or `ops/copy/dump`; what is no job of a task is refused. */
export const locateGadgetJob = (session: Session, text: string, address: TaskAddress): Promise<Outcome<Located>> =>
  locateOnly(session, text, 'GADGET_JOB', address)

async function locateOnly(
  session: Session,
  text: string,
  wanted: 'TASK' | 'GADGET_JOB',
  { project }: TaskAddress,
): Promise<Outcome<Located>> {
  const located = await locate(session, text, { kind: wanted, ...(project === undefined ? {} : { project }) })
  if (!located.ok || located.value.kind === wanted) return located
  const { kind, name, root } = located.value
  const hint = kind === 'GADGET_JOB' ? ` It belongs to ${plain(root.name)}.` : ''
  return refused(invalid(`${text} is the ${words(kind)} ${plain(name)}, not a ${words(wanted)}.${hint}`))
}
